package dialog

import (
	"bytes"
	"context"
	"errors"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"aai"
	"aai/internal/desktop/linuxtest"
	"aai/internal/desktop/x11"
	"aai/internal/seat"
)

// programs are the real ones, and the keys that press what stands after the refusal,
// which has the focus: the second is another page where there are three buttons.
func programs() map[string]map[string][]string {
	return map[string]map[string][]string{
		"pinentry-qt":    {"first": {"Tab", "space"}, "second": {"Tab", "Tab", "space"}},
		"pinentry-gtk-2": {"first": {"Tab", "Tab", "space"}, "second": {"Tab", "space"}},
		"kdialog":        {"first": {"Down", "Return"}, "second": {"Down", "Down", "Return"}},
		"zenity":         {"first": {"Tab", "space"}, "second": {"shift+Tab", "shift+Tab", "space"}},
	}
}

// realDesk is a Dialog on the session's screen that uses one program alone.
func realDesk(t *testing.T, s *linuxtest.Session, program string) *Dialog {
	t.Helper()
	shared := seat.New(seat.Config{Folder: seat.Folder, Getenv: s.Getenv})
	screen := x11.New(x11.Config{Getenv: s.Getenv, Seat: shared})
	t.Cleanup(func() { _ = screen.Close() })
	d := New(Config{Getenv: s.Getenv, Folder: t.TempDir(), Seat: shared, Focus: screen.FocusedBy})
	d.find = func() []shower {
		for _, way := range showers(s.Getenv) {
			if filepath.Base(way.name) == program {
				return []shower{way}
			}
		}
		return nil
	}
	return d
}

// An asked question waits for its answer.
type asking struct {
	t       *testing.T
	session *linuxtest.Session
	answer  chan aai.Answer
	err     chan error
}

func put(t *testing.T, s *linuxtest.Session, d *Dialog, q aai.Question) asking {
	t.Helper()
	return putFor(t.Context(), t, s, d, q)
}

// putFor puts the question for a call.
func putFor(ctx context.Context, t *testing.T, s *linuxtest.Session, d *Dialog, q aai.Question) asking {
	t.Helper()
	a := asking{t, s, make(chan aai.Answer, 1), make(chan error, 1)}
	go func() {
		answer, err := d.Ask(ctx, q)
		a.answer <- answer
		a.err <- err
	}()
	return a
}

// seen waits until the window is there and a person could have read it.
func (a asking) seen() {
	a.t.Helper()
	for until := time.Now().Add(time.Minute); !strings.HasPrefix(a.session.ActiveWindow(a.t), "AAI Gateway"); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(until) {
			a.t.Fatal("no window has come up")
		}
	}
	time.Sleep(readable + slow)
}

func (a asking) press(keys ...string) {
	a.t.Helper()
	cmd := exec.CommandContext(a.t.Context(), "xdotool", append([]string{"key", "--delay", "50"}, keys...)...)
	cmd.Env = a.session.Env
	if out, err := cmd.CombinedOutput(); err != nil {
		a.t.Fatalf("xdotool: %v: %s", err, out)
	}
}

func (a asking) expect(choice string) {
	a.t.Helper()
	select {
	case answer := <-a.answer:
		if err := <-a.err; err != nil || answer.Choice != choice {
			a.t.Errorf("%+v, %v; expected %q", answer, err, choice)
		}
	case <-time.After(patience + 10*time.Second):
		a.t.Fatal("there was no answer")
	}
}

// answered reports whether the keys were an answer, which must be the choice. A key
// can be lost on a machine that is busy; then the window is closed, for another try.
func (a asking) answered(choice string) bool {
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

// tries is how often a question is put whose keys were lost.
const tries = 3

// untilAnswered puts the question until the keys that press gives are an answer.
func untilAnswered(t *testing.T, s *linuxtest.Session, program, choice string, press func(a asking)) {
	t.Helper()
	for range tries {
		a := put(t, s, realDesk(t, s, program), consent())
		a.seen()
		press(a)
		if a.answered(choice) {
			return
		}
	}
	t.Fatalf("%s: nothing that was pressed %d times was an answer", program, tries)
}

// keep takes a picture of the screen, into $AAI_PICTURES for people to look at,
// and returns it.
func (a asking) keep(name string) string {
	a.t.Helper()
	folder := os.Getenv("AAI_PICTURES")
	if folder == "" {
		folder = a.t.TempDir()
	}
	file := filepath.Join(folder, name+".png")
	a.session.Screenshot(a.t, file)
	return file
}

// The real programs do what is expected of them: Return and Escape are no, and
// every button is the one that it says.
func TestRealDialogs(t *testing.T) {
	for program, keys := range programs() {
		t.Run(program, func(t *testing.T) {
			s := linuxtest.Start(t) // kdialog leaves services behind that change how Qt looks
			for _, c := range []struct {
				keys   []string
				choice string
			}{
				{[]string{"Return"}, "deny"}, {[]string{"Escape"}, "deny"}, {[]string{"alt+F4"}, "deny"}, {keys["first"], "once"},
			} {
				untilAnswered(t, s, program, c.choice, func(a asking) {
					if c.choice == "once" {
						a.keep(program)
					}
					a.press(c.keys...)
				})
			}
			untilAnswered(t, s, program, "session", func(a asking) {
				a.press(keys["second"]...)
				if strings.HasPrefix(program, "pinentry") { // the others have room for it
					time.Sleep(slow)
					a.seen()
					a.press(keys["first"]...)
				}
			})
		})
	}
}

// A name may be markup, turn the text around, hold escapes of a terminal or have
// no end: it is shown as harmless text, and the buttons stay where they are.
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
				line := aai.CleanLabel(text, 300) // as whoever makes a question does
				q.Text = "Effect: may delete\n" + aai.QuoteMark + "Name: " + line + "\n" + aai.QuoteMark + "Says: " + line
				q.Choices[1].Label += text
				a := put(t, s, realDesk(t, s, program), q)
				a.seen()
				picture := a.keep(name + "-" + program)
				if n := magenta(t, picture); n > 0 {
					t.Errorf("%d points of the picture have a stranger's colour", n)
				}
				a.press("Return")
				a.expect("deny")
			})
		}
	}
}

// magenta counts the points of a picture that have the colour that the hostile
// name asks for.
func magenta(t *testing.T, file string) int {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
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

// Which process has the window is known while it is open, and it ends with the
// call.
func TestRealDialogsEndWithTheCall(t *testing.T) {
	s := linuxtest.Start(t)
	for program := range programs() {
		t.Run(program, func(t *testing.T) {
			d := realDesk(t, s, program)
			ctx, end := context.WithCancel(t.Context())
			defer end()
			a := putFor(ctx, t, s, d, consent())
			a.seen()
			pid := d.turns.read().Open
			if command, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline")); err != nil || !strings.Contains(string(command), program) {
				t.Errorf("process %d is %q, %v", pid, command, err)
			}
			if !d.Shows(pid) {
				t.Errorf("process %d is not known to have the window", pid)
			}
			end()
			<-a.answer
			if err := <-a.err; !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			if d.Shows(pid) {
				t.Error("the window is said to be open still")
			}
			if _, err := os.Stat(filepath.Join("/proc", strconv.Itoa(pid))); err == nil {
				t.Errorf("process %d goes on", pid)
			}
		})
	}
}

// Without a screen there is no dialog, and none is tried.
func TestNoScreen(t *testing.T) {
	if ways := showers(func(name string) string { return map[string]string{"PATH": "/usr/bin"}[name] }); len(ways) != 0 {
		t.Errorf("%d ways", len(ways))
	}
}

// Whoever starts the gateway says the PATH: what lies there asks nobody.
func TestAProgramOfThePathAsksNobody(t *testing.T) {
	planted := t.TempDir()
	for _, program := range []string{"pinentry-qt", "pinentry-qt5", "pinentry-gtk-2", "pinentry-gtk", "pinentry", "kdialog", "zenity"} {
		if err := os.WriteFile(filepath.Join(planted, program), []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, way := range showers(func(name string) string {
		return map[string]string{"PATH": planted + ":/usr/bin", "DISPLAY": ":4711"}[name]
	}) {
		if filepath.Dir(way.name) == planted {
			t.Errorf("%s would ask", way.name)
		}
	}
}

// A scale in which nobody could read is nobody's.
func TestAScaleThatHidesIsNotTaken(t *testing.T) {
	for scale, taken := range map[string]bool{"0.01": false, "1e9": false, "-1": false, "NaN": false, "Inf": false, "2x": false, "0.5": true, "1.25": true, "3": true} {
		env := environment(func(string) string { return scale })
		for _, name := range []string{"GDK_SCALE", "GDK_DPI_SCALE", "QT_SCALE_FACTOR"} {
			if slices.Contains(env, name+"="+scale) != taken {
				t.Errorf("%s=%s: it is taken: %v", name, scale, !taken)
			}
		}
	}
}

// A screen that is said to be there and is not means that nobody was asked, and
// not that somebody said no.
func TestADeadScreen(t *testing.T) {
	for program := range programs() {
		dead := func(name string) string { return map[string]string{"DISPLAY": ":4711", "PATH": "/usr/bin"}[name] }
		d := New(Config{Getenv: dead, Folder: t.TempDir()})
		d.readable = 0 // as if the program took its time to fail
		d.find = func() []shower {
			for _, way := range showers(dead) {
				if filepath.Base(way.name) == program {
					return []shower{way}
				}
			}
			return nil
		}
		if answer, err := d.Ask(t.Context(), consent()); err == nil {
			t.Errorf("%s answered %+v", program, answer)
		}
	}
}
