package linuxtest_test

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// onEach runs a test on a fixture of each toolkit.
func onEach(t *testing.T, test func(t *testing.T, s *linuxtest.Session, f *linuxtest.Fixture)) {
	for _, kind := range linuxtest.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			s := linuxtest.Start(t)
			test(t, s, s.Fixture(t, kind))
		})
	}
}

// key presses keys on a real keyboard, by their xdotool names.
func key(t *testing.T, s *linuxtest.Session, names ...string) {
	t.Helper()
	assert.NilError(t, s.Launch(t, "xdotool", append([]string{"key"}, names...)...).Wait(t))
}

func typeText(t *testing.T, s *linuxtest.Session, text string) {
	t.Helper()
	assert.NilError(t, s.Launch(t, "xdotool", "type", text).Wait(t))
}

// TestAtTheStart checks that all toolkits report the same initial state.
func TestAtTheStart(t *testing.T) {
	want := map[string]any{
		"presses": 0.0, "twin": 0.0, "agree": false, "name": "", "password": "", "notes": "", "volume": 30.0, "count": 5.0,
		"colour": "Red", "tab": "First", "second": 0.0, "fruit": "", "shuffled": 0.0, "scroll": 0.0, "dialog": "",
		"hidden": false, "ghost": 0.0, "menu": "", "slow": 0.0, "clicks": []any{}, "drags": []any{}, "keys": []any{}, "focused": true,
	}
	onEach(t, func(t *testing.T, s *linuxtest.Session, f *linuxtest.Fixture) {
		state := f.State(t)
		delete(state, "where")
		assert.Check(t, is.DeepEqual(want, state))
		got := s.ActiveWindow(t)
		assert.Check(t, is.Equal(got, f.Title), "the active window is %q, want %q", got, f.Title)
		r := f.WindowRect(t)
		assert.Check(t, is.Equal(r.Width, 700))
		assert.Check(t, is.Equal(r.Height, 600))
		owner := s.Launch(t, "xdotool", "getwindowpid", f.Window(t))
		if err := owner.Wait(t); err != nil || strings.TrimSpace(owner.Output()) != fmt.Sprint(f.PID) {
			t.Errorf("the window is that of process %s, want %d (%v)", owner.Output(), f.PID, err)
		}
		assert.Check(t, is.Len(f.Lacks, 0), f.Kind)
	})
}

// TestControls operates the controls with pointer and keyboard, and checks the state.
func TestControls(t *testing.T) {
	onEach(t, func(t *testing.T, s *linuxtest.Session, f *linuxtest.Fixture) {
		for _, name := range []string{"Disabled", "Dead", "Twin 2", "Agree", "Ghost"} {
			f.Press(t, name)
		}
		f.Press(t, "Press")
		f.WaitState(t, "presses", 1)
		f.WaitState(t, "twin", 2)
		f.WaitState(t, "agree", true)
		f.WaitState(t, "ghost", 1)
		f.Press(t, "Twin 1")
		f.WaitState(t, "twin", 1)
		f.Press(t, "Slow")
		f.WaitState(t, "slow", 1)
		f.Press(t, "Second")
		f.WaitState(t, "tab", "Second")
		f.WaitFor(t, "the second page is there", knows("On second"))
		f.Press(t, "On second")
		f.WaitState(t, "second", 1)
		f.Press(t, "Hide")
		f.WaitState(t, "hidden", true)
		f.WaitFor(t, "the ghost is gone", func(state map[string]any) bool { return !knows("Ghost")(state) })
	})
}

// knows returns a function that reports whether the fixture sees the control.
func knows(name string) func(state map[string]any) bool {
	return func(state map[string]any) bool {
		_, ok := state["where"].(map[string]any)[name]
		return ok
	}
}

func TestFields(t *testing.T) {
	onEach(t, func(t *testing.T, s *linuxtest.Session, f *linuxtest.Fixture) {
		f.Press(t, "Full name")
		typeText(t, s, "Ada")
		f.Press(t, "Password")
		typeText(t, s, "s3cret")
		f.Press(t, "Notes")
		key(t, s, "o", "n", "e", "Return", "t", "w", "o")
		f.WaitState(t, "name", "Ada")
		f.WaitState(t, "password", "s3cret")
		f.WaitState(t, "notes", "one\ntwo")
		f.Press(t, "Volume")
		key(t, s, "End")
		f.WaitState(t, "volume", 100)
		f.Press(t, "Count")
		key(t, s, "Up")
		f.WaitState(t, "count", 6)
		f.Press(t, "Colour")
		key(t, s, "Down", "Return")
		f.WaitState(t, "colour", "Green")
	})
}

func TestKeys(t *testing.T) {
	onEach(t, func(t *testing.T, s *linuxtest.Session, f *linuxtest.Fixture) {
		f.Press(t, "Full name")
		key(t, s, "a", "A", "ctrl+a", "alt+shift+F5", "space", "Left", "Return", "Tab", "exclam", "BackSpace", "Escape")
		want := []string{"shift+A", "ctrl+a", "alt+shift+F5", "space", "Left", "Return", "Tab", "shift+!", "BackSpace", "Escape"}
		f.WaitState(t, "keys", want)
	})
}

func TestList(t *testing.T) {
	onEach(t, func(t *testing.T, s *linuxtest.Session, f *linuxtest.Fixture) {
		f.Press(t, "Fruit 2")
		f.WaitState(t, "fruit", "Fruit 2")
		f.Press(t, "Shuffle")
		f.WaitState(t, "shuffled", 1)
		f.WaitFor(t, "the last row is the first", func(map[string]any) bool {
			return f.ControlRect(t, "Fruit 40").Y < f.ControlRect(t, "Fruit 39").Y && f.ControlRect(t, "Fruit 39").Y < f.ControlRect(t, "Fruit 1").Y
		})
		f.WaitState(t, "fruit", "")
		x, y := f.ControlRect(t, "Fruit 39").Centre()
		s.Click(t, x, y, 1)
		f.WaitState(t, "fruit", "Fruit 39")
		s.Click(t, x, y, 5)
		f.WaitFor(t, "the list is scrolled", func(state map[string]any) bool { return state["scroll"].(float64) > 0 })
		f.WaitFor(t, "the rows are higher up", func(map[string]any) bool {
			_, higher := f.ControlRect(t, "Fruit 39").Centre()
			return higher < y
		})
	})
}

func TestDialog(t *testing.T) {
	onEach(t, func(t *testing.T, s *linuxtest.Session, f *linuxtest.Fixture) {
		for pressed, want := range map[string]string{"space": "yes", "Escape": "closed"} {
			f.Press(t, "Open dialog")
			f.WaitState(t, "dialog", "open")
			if f.Kind == linuxtest.Chromium {
				f.WaitState(t, "focused", true) // its dialog is a part of the page
			} else {
				f.WaitState(t, "focused", false)
				await(t, "the dialog's window is the active one", func() bool { return s.ActiveWindow(t) == "Really?" })
			}
			key(t, s, pressed)
			f.WaitState(t, "dialog", want)
			f.WaitState(t, "focused", true)
		}
	})
}

func TestMenu(t *testing.T) {
	onEach(t, func(t *testing.T, s *linuxtest.Session, f *linuxtest.Fixture) {
		f.Press(t, "File")
		if f.Kind == linuxtest.Chromium {
			f.WaitFor(t, "the menu is open", knows("Quit-not"))
			f.Press(t, "Quit-not")
		} else {
			key(t, s, "Up", "Return") // from none to the last
		}
		f.WaitState(t, "menu", "Quit-not")
	})
}

func TestCanvas(t *testing.T) {
	onEach(t, func(t *testing.T, s *linuxtest.Session, f *linuxtest.Fixture) {
		r := f.ControlRect(t, "Canvas")
		at := func(x, y, button, count int) map[string]int {
			return map[string]int{"button": button, "count": count, "x": x, "y": y}
		}
		s.Click(t, r.X+20, r.Y+30, 1)
		f.WaitState(t, "clicks", []any{at(20, 30, 1, 1)})
		s.Click(t, r.X+60, r.Y+70, 3)
		s.Click(t, r.X+90, r.Y+90, 2)
		f.WaitState(t, "clicks", []any{at(20, 30, 1, 1), at(60, 70, 3, 1), at(90, 90, 2, 1)})
		want := []any{at(20, 30, 1, 1), at(60, 70, 3, 1), at(90, 90, 2, 1)}
		// On a busy computer the second click may be too late for a double click: then another is tried
		// elsewhere. One more click shows that the two have been counted.
		for x, second := 100, 1; second != 2; x += 10 {
			xdotool(t, s, fmt.Sprintf("mousemove %d %d click --repeat 2 --delay 50 1", r.X+x, r.Y+50))
			s.Click(t, r.X+x, r.Y+80, 1)
			f.WaitFor(t, "there are three clicks more", func(state map[string]any) bool { return len(state["clicks"].([]any)) == len(want)+3 })
			clicks := f.State(t)["clicks"].([]any)
			if clicks[len(want)+1].(map[string]any)["count"] == 2.0 {
				second = 2
			}
			want = append(want, at(x, 50, 1, 1), at(x, 50, 1, second), at(x, 80, 1, 1))
			assert.Assert(t, x != 200, "none is a double click: %v", clicks)
		}
		xdotool(t, s, fmt.Sprintf("mousemove %d %d mousedown 1", r.X+40, r.Y+20))
		xdotool(t, s, fmt.Sprintf("mousemove %d %d mousemove %d %d mouseup 1", r.X+60, r.Y+40, r.X+100, r.Y+80))
		f.WaitState(t, "drags", []any{map[string]any{"button": 1, "from": []int{40, 20}, "to": []int{100, 80}}})
		f.WaitState(t, "clicks", append(want, at(40, 20, 1, 1)))
	})
}

// xdotool runs xdotool commands.
func xdotool(t *testing.T, s *linuxtest.Session, commands string) {
	t.Helper()
	assert.NilError(t, s.Launch(t, "xdotool", strings.Fields(commands)...).Wait(t))
	s.AwaitWindowManager(t)
}

func TestRows(t *testing.T) {
	const n = 10_000
	for _, kind := range linuxtest.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			s := linuxtest.Start(t)
			f := s.Rows(t, kind, n)
			state := f.State(t)
			delete(state, "where")
			want := map[string]any{"rows": float64(n), "row": "", "scroll": 0.0, "keys": []any{}, "focused": true}
			assert.Check(t, is.DeepEqual(want, state))
			f.Press(t, "Rows")
			f.WaitFor(t, "a row is selected", func(state map[string]any) bool { return state["row"] != "" })
			x, y := f.WindowRect(t).Centre()
			s.Click(t, x, y, 5)
			f.WaitFor(t, "the list is scrolled", func(state map[string]any) bool { return state["scroll"].(float64) > 0 })
		})
	}
}
