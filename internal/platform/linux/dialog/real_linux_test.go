package dialog

import (
	"bytes"
	"context"
	"image/png"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// programs returns the real programs, and the keys that press the buttons after the refusal, which has
// the focus: the second is another page if there are three buttons. AAI_DIALOG names a program that the
// suite does not install, such as pinentry-gnome3, or one alone.
func programs() map[string]map[string][]string {
	all := map[string]map[string][]string{
		"pinentry-qt":    {"first": {"Left", "Left", "space"}, "second": {"Left", "space"}}, // Tab may lead to the text
		"pinentry-gtk-2": {"first": {"Tab", "Tab", "space"}, "second": {"Tab", "space"}},
		"kdialog":        {"first": {"Down", "Return"}, "second": {"Down", "Down", "Return"}},
		"zenity":         {"first": {"Tab", "Tab", "Tab", "space"}, "second": {"shift+Tab", "shift+Tab", "space"}},
		gnome:            {"first": {"1", "Return"}, "second": {"2", "Return"}},
	}
	for name, keys := range all {
		keys["default"], keys["close"] = []string{"Return"}, []string{"alt+F4"}
		if name == gnome { // it takes no empty field, and gcr-prompter's window does not close
			keys["default"], keys["close"] = []string{"0", "Return"}, []string{"Escape"}
		}
	}
	only := os.Getenv("AAI_DIALOG")
	maps.DeleteFunc(all, func(name string, _ map[string][]string) bool {
		return only != "" && only != name || only == "" && name == gnome
	})
	return all
}

// anyProgram stands for all installed programs.
const anyProgram = ""

// gnome is the program with a window of another process.
const gnome = "pinentry-gnome3"

// testPatience is the limit for expected events. No test waits for it to expire.
const testPatience = 2 * time.Minute

// realDialog returns a Dialog on the session's screen with one program.
func realDialog(t *testing.T, s *linuxtest.Session, program string) *Dialog {
	t.Helper()
	d, _ := watchedDialog(t, s, program)
	return d
}

// watchedDialog also returns a function for the time since which the Dialog has seen a
// window's program with the keyboard; zero means never.
func watchedDialog(t *testing.T, s *linuxtest.Session, program string) (d *Dialog, since func(pid int) time.Time) {
	t.Helper()
	shared := inputlock.New(inputlock.Config{Folder: inputlock.Folder, Getenv: s.Getenv, StuckAfter: testPatience}) // a busy machine is only slower
	screen := screenOf(s.Getenv, shared)
	var mu sync.Mutex
	var focused int
	var from time.Time
	d = New(Config{Getenv: s.Getenv, Folder: t.TempDir(), InputLock: shared, FloatWindows: screen.FloatWindows, FocusedPID: func(ctx context.Context) (int, error) {
		pid, err := screen.FocusedPID(ctx)
		mu.Lock()
		defer mu.Unlock()
		if pid != focused {
			focused, from = pid, time.Now()
		}
		return pid, err
	}})
	if program == anyProgram {
		return d, nil
	}
	d.findPresenters = func() []presenter {
		for _, way := range presenters(s.Getenv) {
			if filepath.Base(way.name) == program {
				return []presenter{way}
			}
		}
		return nil
	}
	return d, func(pid int) time.Time {
		mu.Lock()
		defer mu.Unlock()
		if pid != focused {
			return time.Time{}
		}
		return from
	}
}

// An openDialog is a question that waits for its answer.
type openDialog struct {
	t       *testing.T
	session *linuxtest.Session
	open    func() int              // the process of its window, 0 for none yet
	since   func(pid int) time.Time // as in watchedDialog; nil if unused
	answer  chan aai.Answer
	err     chan error
}

// put shows the question in a Dialog with one program.
func put(t *testing.T, s *linuxtest.Session, program string, q aai.Question) openDialog {
	t.Helper()
	a, _ := putFor(t.Context(), t, s, program, q)
	return a
}

// putFor shows the question for a call.
func putFor(ctx context.Context, t *testing.T, s *linuxtest.Session, program string, q aai.Question) (openDialog, *Dialog) {
	t.Helper()
	d, since := watchedDialog(t, s, program)
	a := openDialog{t, s, func() int { return d.scheduler.read().Open }, since, make(chan aai.Answer, 1), make(chan error, 1)}
	go func() {
		answer, err := d.Ask(ctx, q)
		a.answer <- answer
		a.err <- err
	}()
	return a, d
}

// seen waits until the window is open and a person could have read it, according to the
// Dialog. It must not be the window before, which the window manager may still list.
func (a openDialog) seen() {
	a.t.Helper()
	a.comes(func() bool {
		pid := a.open()
		if pid != 0 && a.front() != 0 && os.Getenv("AAI_DIALOG") == gnome {
			return a.since == nil || !a.since(a.front()).IsZero() && time.Since(a.since(a.front())) > 2*(readable+bigToolkitStart)
		}
		return pid != 0 && a.front() == pid && (a.since == nil || !a.since(pid).IsZero() && time.Since(a.since(pid)) > readable+bigToolkitStart)
	})
}

// comes waits until the window is ready.
func (a openDialog) comes(ready func() bool) {
	a.t.Helper()
	for until := time.Now().Add(testPatience); !ready(); time.Sleep(focusPollInterval) {
		assert.Assert(a.t, !time.Now().After(until), "no window has come up")
	}
}

// front returns the process of the window with the focus, if it is a gateway's, according
// to xdotool.
func (a openDialog) front() int {
	if a.session.Compositor() != nil {
		return frontOfWayland(a.t, a.session)
	}
	cmd := exec.CommandContext(a.t.Context(), "xdotool", "getactivewindow", "getwindowname", "getwindowpid")
	cmd.Env = a.session.Env
	out, _ := cmd.Output()
	title, process, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	pid, err := strconv.Atoi(process)
	if err != nil || !strings.HasPrefix(title, "AAI Gateway") {
		return 0
	}
	return pid
}

func (a openDialog) press(keys ...string) {
	a.t.Helper()
	cmd := exec.CommandContext(a.t.Context(), "xdotool", append([]string{"key", "--delay", "50"}, keys...)...)
	cmd.Env = a.session.Env
	out, err := cmd.CombinedOutput()
	assert.NilError(a.t, err, out)
}

func (a openDialog) expect(choice string) {
	a.t.Helper()
	select {
	case answer := <-a.answer:
		if err := <-a.err; err != nil || answer.Choice != choice {
			a.t.Errorf("%+v, %v; expected %q", answer, err, choice)
		}
	case <-time.After(testPatience):
		a.t.Fatal("there was no answer")
	}
}

// answered reports whether the keys resulted in an answer, which must be the choice. On a
// busy machine a key may get lost; then the window is closed, for another try.
func (a openDialog) answered(choice string) bool {
	a.t.Helper()
	select {
	case answer := <-a.answer:
		if err := <-a.err; err != nil || answer.Choice != choice {
			a.t.Errorf("%+v, %v; expected %q", answer, err, choice)
		}
		return true
	case <-time.After(10 * time.Second):
	}
	a.press("Escape")
	<-a.answer
	<-a.err
	return false
}

// tries is the number of tries for a question with lost keys.
const tries = 3

// untilAnswered shows the question until the keys that press sends result in an answer.
func untilAnswered(t *testing.T, s *linuxtest.Session, program, choice string, press func(a openDialog)) {
	t.Helper()
	for range tries {
		a := put(t, s, program, consent())
		a.seen()
		press(a)
		if a.answered(choice) {
			return
		}
	}
	t.Fatalf("%s: nothing that was pressed %d times was an answer", program, tries)
}

// keep takes a screenshot, in $AAI_PICTURES for people to check, and returns its file.
func (a openDialog) keep(name string) string {
	a.t.Helper()
	folder := os.Getenv("AAI_PICTURES")
	if folder == "" {
		folder = a.t.TempDir()
	}
	file := filepath.Join(folder, name+".png")
	a.session.Screenshot(a.t, file)
	return file
}

// TestRealDialogs checks the real programs: Return and Escape refuse, and every button has
// its own effect.
func TestRealDialogs(t *testing.T) {
	for program, keys := range programs() {
		t.Run(program, func(t *testing.T) {
			s := linuxtest.Start(t) // kdialog leaves services behind that change Qt's look
			for _, c := range []struct {
				keys   []string
				choice string
			}{
				{keys["default"], "deny"}, {[]string{"Escape"}, "deny"}, {keys["close"], "deny"}, {keys["first"], "once"},
			} {
				untilAnswered(t, s, program, c.choice, func(a openDialog) {
					if c.choice == "once" {
						a.keep(program)
					}
					a.press(c.keys...)
				})
			}
			untilAnswered(t, s, program, "session", func(a openDialog) {
				first := a.open()
				a.press(keys["second"]...)
				if strings.HasPrefix(program, "pinentry") && program != gnome { // the others have room for it
					a.comes(func() bool { pid := a.open(); return pid != 0 && pid != first })
					a.seen()
					a.press(keys["first"]...)
				}
			})
		})
	}
}

// TestRealDialogsShowHostileNames checks that names with markup, bidirectional controls, terminal
// escapes or excessive length are shown as harmless text, and do not move the buttons.
func TestRealDialogsShowHostileNames(t *testing.T) {
	s := linuxtest.Start(t)
	for name, text := range map[string]string{
		"pango": `<span color="#f0f">X</span>`,
		"html":  `<font color="#f0f">X</font><img src="file:///etc/passwd"> &lt;b&gt; %0A%s \n\t _x &y`,
		"odd":   "\u202etfas si siht\u202c \u2066x\u2069 zero\u200bwidth \U000e0041tag \x1b[2J\x1b[31mred\x1b[0m\x07\r\nAAI Gateway: this is safe",
		"long":  strings.Repeat("word ", 1000) + strings.Repeat("x", 5000),
	} {
		for program := range programs() {
			t.Run(name+"/"+program, func(t *testing.T) {
				q := consent()
				q.Title = "Allow " + aai.CleanLabel(text, 100) + "?"
				line := aai.CleanLabel(text, 300) // as the author of a question does
				q.Text = "Effect: may delete\n" + aai.QuoteMark + "Name: " + line + "\n" + aai.QuoteMark + "Says: " + line
				q.Choices[1].Label += text
				a := put(t, s, program, q)
				a.seen()
				picture := a.keep(name + "-" + program)
				n := magenta(t, picture)
				assert.Check(t, n <= 0, "%d points of the picture have a stranger's colour", n)
				a.press("Return")
				a.expect("deny")
			})
		}
	}
}

// magenta counts the pixels of a screenshot with the colour that the hostile name asks
// for.
func magenta(t *testing.T, file string) int {
	t.Helper()
	b, err := os.ReadFile(file)
	assert.NilError(t, err)
	picture, err := png.Decode(bytes.NewReader(b))
	assert.NilError(t, err)
	n := 0
	for y := range picture.Bounds().Dy() {
		for x := range picture.Bounds().Dx() {
			if r, g, b, _ := picture.At(x, y).RGBA(); r > 0xc000 && g < 0x4000 && b > 0xc000 {
				n++
			}
		}
	}
	return n
}

// TestRealDialogsEndWithTheCall checks that an open window's process is known, that the
// waiting caller gets the screen's name, and that the window closes with the call.
func TestRealDialogsEndWithTheCall(t *testing.T) {
	s := linuxtest.Start(t)
	for program := range programs() {
		t.Run(program, func(t *testing.T) {
			ctx, end := context.WithCancel(t.Context())
			defer end()
			told := make(chan string, 100)
			hears := aai.WithClientCapabilities(ctx, aai.ClientCapabilities{OnDialogShown: func(screen string) { told <- screen }})
			a, d := putFor(hears, t, s, program, consent())
			a.seen()
			if where := <-told; where != s.Getenv("DISPLAY") || len(told) > 0 {
				t.Errorf("it is told to be on %q, and %d times more; it is on %q", where, len(told), s.Getenv("DISPLAY"))
			}
			pid := a.open()
			command, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
			assert.NilError(t, err, "%d %q", pid, command)
			assert.Assert(t, is.Contains(string(command), program), "%d %q", pid, command)
			assert.Check(t, d.IsShowing(pid), "process %d is not known to have the window", pid)
			end()
			<-a.answer
			assert.Check(t, is.ErrorIs(<-a.err, context.Canceled))
			assert.Check(t, !d.IsShowing(pid), "the window is said to be open still")
			_, err = os.Stat(filepath.Join("/proc", strconv.Itoa(pid)))
			assert.Check(t, err != nil, "process %d goes on", pid)
		})
	}
}

// TestNoScreen checks that no dialog is tried without a screen.
func TestNoScreen(t *testing.T) {
	assert.Check(t, is.Len(presenters(func(name string) string { return map[string]string{"PATH": "/usr/bin"}[name] }), 0))
}

// TestADeadScreen checks that an unusable screen is an error, not a refusal.
func TestADeadScreen(t *testing.T) {
	for program := range programs() {
		dead := func(name string) string { return map[string]string{"DISPLAY": ":4711", "PATH": "/usr/bin"}[name] }
		d := New(Config{Getenv: dead, Folder: t.TempDir()})
		d.readable = 0 // as if the program failed slowly
		d.findPresenters = func() []presenter {
			for _, way := range presenters(dead) {
				if filepath.Base(way.name) == program {
					return []presenter{way}
				}
			}
			return nil
		}
		answer, err := d.Ask(t.Context(), consent())
		assert.Check(t, err != nil, "%s answered %+v", program, answer)
	}
}
