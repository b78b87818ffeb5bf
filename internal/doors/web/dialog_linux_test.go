package web_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/platform/linux/dialog"
	"github.com/gybob/aai-gateway/internal/platform/linux/x11"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// answerDelay is the time for which a window of the gateway has the focus before the person answers: it
// ignores earlier keys.
const answerDelay = 3 * time.Second

// TestToolTrialAsksInAWindow checks that "Try it" for a tool that changes something asks in the
// gateway's own window, and that the page shows the outcome.
func TestToolTrialAsksInAWindow(t *testing.T) {
	s := linuxtest.Start(t)
	shared := inputlock.New(inputlock.Config{Folder: inputlock.Folder, Getenv: s.Getenv})
	screen := x11.New(x11.Config{Getenv: s.Getenv, InputLock: shared})
	t.Cleanup(func() { _ = screen.Close() })
	for name, c := range map[string]struct {
		keys  map[string][]string
		shows []string
	}{
		"allowed": {allowKeys(), []string{"came notice", "a text"}},
		"denied":  {nil, []string{"came fault", string(aai.PermissionDenied) + " the person at this computer denied"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, mail(tool("ask", `{"type": "object", "properties": {"text": {"type": "string"}}}`, nil)))
			w.gateway.Dialog = dialog.New(dialog.Config{Getenv: s.Getenv, Folder: t.TempDir(), InputLock: shared, FocusedPID: screen.FocusedPID})
			shown := w.pressTry(t, s, func() { answerInWindow(t, s, c.keys, name) })
			for _, want := range c.shows {
				assert.Check(t, is.Contains(shown, want), "the page shows %q, without %q", shown, want)
			}
		})
	}
}

// allowKeys returns the keys that choose an answer besides the refusal, by the window's program.
func allowKeys() map[string][]string {
	return map[string][]string{
		"pinentry-qt": {"Left", "Left", "space"}, "pinentry-gtk-2": {"Tab", "Tab", "space"}, "kdialog": {"Down", "Return"},
		"zenity": {"Tab", "Tab", "Tab", "space"}, "gcr-prompter": {"2", "Return"},
	}
}

// pressTry makes a browser press the button, and returns the page's text. It calls answer when a window
// of the gateway must open.
func (w *world) pressTry(t *testing.T, s *linuxtest.Session, answer func()) (shown string) {
	t.Helper()
	answered := false
	runBrowserScript(t, "try.mjs", "chromium", s.Env, map[string]any{"link": w.link, "profile": t.TempDir()}, func(said string) {
		switch {
		case said == "asks":
			answer()
			answered = true
		case strings.HasPrefix(said, "shows "):
			shown = said
		default:
			t.Error(said)
		}
	})
	assert.Assert(t, answered, "no window was answered")
	return shown
}

// answerInWindow waits until a window of the gateway is in front and readable, and answers it by the
// keys for its program; without keys it presses Escape.
func answerInWindow(t *testing.T, s *linuxtest.Session, keys map[string][]string, name string) {
	t.Helper()
	xdotool := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), "xdotool", args...)
		cmd.Env = s.Env
		out, _ := cmd.Output() // nothing has the focus for a moment
		return string(out)
	}
	var since time.Time
	for late := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		assert.Assert(t, !time.Now().After(late), "no window of the gateway has come")
		switch {
		case !strings.HasPrefix(xdotool("getactivewindow", "getwindowname"), "AAI Gateway"):
			since = time.Time{}
		case since.IsZero():
			since = time.Now()
		case time.Since(since) > answerDelay:
			if folder := os.Getenv("AAI_PICTURES"); folder != "" {
				s.Screenshot(t, filepath.Join(folder, "try "+name+".png"))
			}
			press := []string{"Escape"}
			if keys != nil {
				program, err := os.ReadFile(filepath.Join("/proc", strings.TrimSpace(xdotool("getactivewindow", "getwindowpid")), "comm"))
				press = keys[strings.TrimSpace(string(program))]
				assert.NilError(t, err, "%q", program)
				assert.Assert(t, press != nil, "no keys are known for %q: %v", program, err)
			}
			xdotool(append([]string{"key", "--delay", "50"}, press...)...)
			return
		}
	}
}
