package linuxtest

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"strconv"
	"testing"
	"time"
)

//go:embed programs
var programs embed.FS

// A Kind is a toolkit that fixtures are made with.
type Kind string

// The kinds of fixtures.
const (
	GTK3     Kind = "gtk3"
	GTK4     Kind = "gtk4"
	Qt6      Kind = "qt6"
	Chromium Kind = "chromium"
)

// Kinds returns all kinds, for tests that run on each.
func Kinds() []Kind { return []Kind{GTK3, GTK4, Qt6, Chromium} }

// A Fixture is a window with one control of every kind, the same in every toolkit, that writes its true
// state to a file.
type Fixture struct {
	*App  // the process that owns the window
	Kind  Kind
	Title string   // of its window; unique in the session
	Lacks []string // keys of the state that a person cannot change in its window; currently none

	session *Session
	file    string
}

// Fixture opens the window with all controls, 700 by 600 pixels, and waits until it is drawn and focused.
// It does not wait until the window is on the accessibility bus.
//
// The controls, by accessible name, and their effects on the state (in JSON; the initial value in
// parentheses):
//
//   - button Press: presses+1; a label says "Pressed n times"
//   - button Disabled: insensitive
//   - two buttons Twin: twin = 1 or 2 (0)
//   - check box Agree: agree (false)
//   - entry Full name, named only by the visible label that belongs to it: name ("")
//   - password entry Password: password ("")
//   - text of several lines Notes: notes ("")
//   - slider Volume, 0 to 100: volume (30)
//   - spin button Count, 0 to 100: count (5)
//   - combo box Colour of Red, Green, Blue: colour ("Red")
//   - tabs First and Second: tab ("First"); button On second: second+1
//   - list Fruits of Fruit 1 to Fruit 40: fruit (""); its scroll bar: scroll (0), in pixels
//   - button Shuffle: throws the rows away, makes others in reverse order; shuffled+1
//   - button Open dialog: a modal dialog "Really?" with the buttons Yes and No:
//     dialog ("") = "open", then "yes", "no", or "closed" by other means
//   - button Hide: hidden = true; it hides button Ghost, which does ghost+1
//   - menu File of New and Quit-not: menu ("")
//   - button Slow: slow+1, but 150 ms after the press; the label of Press says
//     "Slow n times" then
//   - button Dead: nothing
//   - area Canvas: clicks, a list of {button, count, x, y} with count 2 for the
//     second press of a double click; drags, a list of {button, from, to}. Buttons are
//     those of X11 (1 left, 2 middle, 3 right), points are in pixels of the canvas
//   - label "Status: ready"
//
// The window's state: focused, whether it is the active window; keys, the last ten key presses in it: the
// character, or the X11 name of a key without a visible one ("Return", "space"), after the modifiers in
// this order: "ctrl+alt+shift+super+A".
//
// The toolkits differ on the accessibility bus. GTK 3 gives Full name no name, but a label. Qt names Colour
// by its value and gives it a label. The menu and the dialog of Chromium are parts of the page, not
// windows.
func (s *Session) Fixture(t testing.TB, kind Kind) *Fixture {
	t.Helper()
	return s.fixture(t, kind, 0)
}

// Rows opens a window with only a list of n rows, Row 1 to Row n. Its state has the keys row (the text of
// the selected row, at first "") and rows (n), and scroll, focused and keys as in Fixture.
func (s *Session) Rows(t testing.TB, kind Kind, n int) *Fixture {
	t.Helper()
	return s.fixture(t, kind, n)
}

func (s *Session) fixture(t testing.TB, kind Kind, rows int) *Fixture {
	t.Helper()
	title := s.nextTitle(string(kind) + " fixture")
	f := &Fixture{Kind: kind, Title: title, session: s, file: s.Path("tmp", title+".json")}
	switch kind {
	case GTK3, GTK4, Qt6:
		f.App = s.Launch(t, "python3", s.Path("programs", string(kind)+".py"), "--title", title, "--state", f.file, "--rows", strconv.Itoa(rows))
	case Chromium:
		f.App = s.startChromium(t, title, f.file, rows)
	default:
		t.Fatalf("there is no fixture of kind %q", kind)
	}
	if s.compositor != "" {
		f.await(t, "it writes its state", func() bool { // not the focus: without devices the seat has no keyboard
			_, err := f.read()
			return err == nil
		})
		return f
	}
	asked, is := time.Now(), ""
	defer func() {
		if t.Failed() {
			t.Logf("%s: %s", title, is)
		}
	}()
	f.await(t, "its window is up", func() bool {
		state, err := f.read()
		active, up := s.ActiveWindow(t), f.windows(t)
		is = fmt.Sprintf("it says %v, %v; the windows with its title are %q, the active one is %q", state["focused"], err, up, active)
		if err == nil && state["focused"] == true && active == title && len(up) == 1 {
			return true
		}
		// A window manager that has just started may leave a window without keyboard focus.
		if len(up) == 1 && time.Since(asked) > time.Second {
			asked = time.Now()
			_, _ = s.tryXdotool(t, "windowactivate", up[0])
		}
		return false
	})
	return f
}

// State returns the fixture's state as encoding/json reads it: numbers are float64.
func (f *Fixture) State(t testing.TB) map[string]any {
	t.Helper()
	state, err := f.read()
	if err != nil {
		t.Fatalf("%s does not tell its state: %v", f.Title, err)
	}
	return state
}

// WaitState waits until the state has the value, in any type with the same JSON: 1 equals 1.0.
func (f *Fixture) WaitState(t testing.TB, key string, want any) {
	t.Helper()
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var wanted any
	if err := json.Unmarshal(text, &wanted); err != nil {
		t.Fatal(err)
	}
	f.WaitFor(t, fmt.Sprintf("%s is %s", key, text), func(state map[string]any) bool {
		return reflect.DeepEqual(state[key], wanted)
	})
}

// WaitFor waits until ready returns true for the state. On timeout it fails the test with the text what.
func (f *Fixture) WaitFor(t testing.TB, what string, ready func(state map[string]any) bool) {
	t.Helper()
	var last map[string]any
	seen := false
	defer func() {
		if !seen {
			delete(last, "where") // it has many lines
			t.Logf("%s was last seen in this state: %v", f.Title, last)
		}
	}()
	f.await(t, what, func() bool {
		last = f.State(t)
		return ready(last)
	})
	seen = true
}

// read reads the state from its file, which the fixture replaces atomically.
func (f *Fixture) read() (map[string]any, error) {
	text, err := os.ReadFile(f.file)
	if err != nil {
		return nil, err
	}
	var state map[string]any
	return state, json.Unmarshal(text, &state)
}

// writePrograms writes the fixtures to files for Python and openbox.
func (s *Session) writePrograms(t testing.TB) {
	t.Helper()
	files, err := fs.Sub(programs, "programs")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(s.Path("programs"), files); err != nil {
		t.Fatal(err)
	}
}

// eventually waits until ready returns true.
func eventually(t testing.TB, what string, ready func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !ready() {
		if time.Now().After(deadline) {
			t.Fatalf("after %s it is still not so: %s", patience, what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
