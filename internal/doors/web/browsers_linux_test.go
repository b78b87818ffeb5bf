package web_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	answers "github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/doors/web"
	"github.com/gybob/aai-gateway/internal/platform/linux/dialog"
	"github.com/gybob/aai-gateway/internal/platform/linux/x11"
	"github.com/gybob/aai-gateway/internal/policy"
	"github.com/gybob/aai-gateway/internal/testkit"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// TestInBrowsers uses every page in two real browsers, in both themes and languages, on a wide screen,
// at 200 % and at 320 px, with and without scripts, with data for each page. axe finds no barrier, no
// foreign code runs, changes are shown, and the buttons work. AAI_PICTURES=<folder> stores screenshots.
func TestInBrowsers(t *testing.T) {
	f := newFilledWorld(t)
	for _, c := range []struct{ browser, program, theme string }{
		{"chrome", "chromium", "light"}, {"chrome", "chromium", "dark"}, {"firefox", "firefox-esr", "light"}, {"firefox", "firefox-esr", "dark"},
	} {
		t.Run(c.browser+" "+c.theme, func(t *testing.T) {
			b := &world{gateway: f.gateway}
			b.open(t, f.config)
			file, gone, err := web.WriteRedirectFile(t.TempDir(), b.link)
			assert.NilError(t, err)
			defer gone()
			agent := "live-" + c.browser + "-" + c.theme
			runBrowserScript(t, "browsers/drive.mjs", c.program, nil, map[string]any{
				"browser": c.browser, "theme": c.theme, "link": b.link, "file": file, "downloads": t.TempDir(),
				"front": "/now", "pictures": os.Getenv("AAI_PICTURES"), "app": "org.test.Mail", "agent": agent,
				"more": []string{
					"/app?app=org.test.Mail", "/tool?app=org.test.Mail&tool=send", "/app?app=aai", "/found", "/scan", "/history/s1",
					"/history/charts", "/settings/logLevel", "/settings/security.denied_apps", "/lint?app=org.test.Linted", "/logins?app=shop.example", "/recordings", "/recordings/" + endedRecording, "/recordings/" + runningRecording, "/recordings/letter", "/none",
				},
			}, func(said string) {
				switch said {
				case "live":
					f.calls(t, agent)
				case "allowed":
					g := policy.Grant{Caller: "mcp:agent", Identity: "/usr/bin/agent1/" + agent, App: "org.test.Mail", Tool: "send", Decision: policy.Allow, GrantedAt: time.Now(), Channel: aai.DesktopDialog}
					assert.Check(t, f.store.Add(g))
				case "again":
					f.restart(t)
				default:
					t.Error(said)
				}
			})
		})
	}
	assert.NilError(t, f.stop(t).Add(t.Context(), answers.Stop{}))
	f.awaitEnd()
}

// runBrowserScript runs a script that drives a browser for a job, with environment or a default one,
// and passes on its output until it ends.
func runBrowserScript(t *testing.T, script, program string, env []string, job map[string]any, says func(string)) {
	t.Helper()
	modules, err := filepath.Abs("../../../.cache/browsers/node_modules")
	assert.NilError(t, err)
	node := filepath.Join(modules, "node-linux-"+map[string]string{"amd64": "x64", "arm64": "arm64"}[arch], "bin", "node")
	if _, err := os.Stat(node); err != nil {
		t.Fatalf("%v; scripts/need-browsers installs it", err)
	}
	job["executable"], err = exec.LookPath(program)
	assert.NilError(t, err)
	job["modules"] = modules
	text, err := json.Marshal(job)
	assert.NilError(t, err)
	if env == nil {
		home := t.TempDir()
		env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_CACHE_HOME="+home, "TMPDIR="+home)
	}
	cmd := exec.CommandContext(t.Context(), node, "testdata/"+script, string(text))
	cmd.Env, cmd.Stderr = env, os.Stderr
	driver, last := testkit.StartProcess(t, cmd), ""
	for lines := bufio.NewScanner(driver.Out); lines.Scan(); {
		if last = lines.Text(); last != "done" {
			says(last)
		}
	}
	err = driver.Wait()
	assert.NilError(t, err)
	assert.Equal(t, last, "done")
}

// TestTheProgramEnds checks that a page reports that its program has ended, until it runs again.
func TestTheProgramEnds(t *testing.T) {
	w := newWorld(t)
	door, err := web.New(web.Config{Gateway: w.gateway})
	assert.NilError(t, err)
	port := 0
	start := func() (end func()) {
		l, err := door.Listen(t.Context(), port)
		assert.NilError(t, err)
		_, text, _ := net.SplitHostPort(l.Addr().String())
		port, err = strconv.Atoi(text)
		assert.NilError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- door.Serve(ctx, l) }()
		return func() { cancel(); <-ended }
	}
	end := start()
	defer func() { end() }()
	runBrowserScript(t, "lost.mjs", "chromium", nil, map[string]any{"link": door.Link()}, func(said string) {
		switch said {
		case "end it":
			end()
		case "start it":
			end = start()
		default:
			t.Error(said)
		}
	})
}

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
