package linuxtest

import (
	"context"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// A Rect is a part of the screen, in pixels from its upper left corner.
type Rect struct{ X, Y, Width, Height int }

// Centre returns the rectangle's center.
func (r Rect) Centre() (x, y int) { return r.X + r.Width/2, r.Y + r.Height/2 }

// ActiveWindow returns the title of the focused window, "" if there is none, as xdotool reports it.
func (s *Session) ActiveWindow(t testing.TB) string {
	t.Helper()
	title, err := s.run(t, "xdotool", "getactivewindow", "getwindowname")
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(title, "\n")
}

// Pointer returns the position of the mouse pointer, as xdotool reports it.
func (s *Session) Pointer(t testing.TB) (x, y int) {
	t.Helper()
	values := s.xdotool(t, "getmouselocation", "--shell")
	return number(t, values, "X="), number(t, values, "Y=")
}

// Click moves the pointer, and presses and releases a button of the mouse (1 left, 2 middle, 3 right; 4 and
// 5 turn the wheel up and down). When it returns, the click precedes any later key press in the program's
// queue.
func (s *Session) Click(t testing.TB, x, y, button int) {
	t.Helper()
	s.xdotool(t, "mousemove", strconv.Itoa(x), strconv.Itoa(y), "click", strconv.Itoa(button))
	s.AwaitWindowManager(t)
}

// AwaitWindowManager waits until the window manager has handled all earlier requests. The manager makes the
// server hold button events until it has seen them, so later key presses and pointer moves could overtake a
// click. It handles requests in order; the last one changes the number of virtual desktops.
func (s *Session) AwaitWindowManager(t testing.TB) {
	t.Helper()
	s.desktops = 3 - s.desktops
	want := strconv.Itoa(s.desktops)
	eventually(t, "the window manager has done it all", func() bool {
		s.xdotool(t, "set_num_desktops", want) // repeat: a starting window manager may have missed the first request
		return strings.TrimSpace(s.xdotool(t, "get_num_desktops")) == want
	})
}

// Screenshot writes a picture of the whole screen for people to look at. The file extension selects the
// format.
func (s *Session) Screenshot(t testing.TB, file string) {
	t.Helper()
	s.output(t, "import", "-window", "root", file)
}

// Window returns the X11 ID of the fixture's window, as xdotool reports it.
func (f *Fixture) Window(t testing.TB) string {
	t.Helper()
	ids := f.windows(t)
	if len(ids) != 1 {
		t.Fatalf("%d windows are named %q, want 1: %q", len(ids), f.Title, ids)
	}
	return ids[0]
}

// windows returns the visible windows with the fixture's title.
func (f *Fixture) windows(t testing.TB) (ids []string) {
	t.Helper()
	found, err := f.session.tryXdotool(t, "search", "--onlyvisible", "--name", "^"+f.Title+"$")
	if err != nil { // also without any match
		return nil
	}
	return strings.Fields(found)
}

// WindowRect returns the fixture's window without its frame, as xwininfo reports it: xdotool counts the
// frame twice.
func (f *Fixture) WindowRect(t testing.TB) Rect {
	t.Helper()
	lines := f.session.output(t, "xwininfo", "-id", f.Window(t))
	return Rect{
		number(t, lines, "Absolute upper-left X:"), number(t, lines, "Absolute upper-left Y:"),
		number(t, lines, "Width:"), number(t, lines, "Height:"),
	}
}

// ControlRect returns the rectangle of a control on the screen, from the fixture's own layout. The name is
// the accessible one; the two Twins are "Twin 1" and "Twin 2". Rows that are scrolled out of view have a
// rectangle outside the list.
func (f *Fixture) ControlRect(t testing.TB, name string) Rect {
	t.Helper()
	places, _ := f.State(t)["where"].(map[string]any)
	place, ok := places[name].([]any)
	if !ok || len(place) != 4 {
		t.Fatalf("%s does not know where %q is; it knows %v", f.Title, name, places)
	}
	var n [4]int
	for i, v := range place {
		n[i] = int(v.(float64))
	}
	window := f.WindowRect(t)
	return Rect{window.X + n[0], window.Y + n[1], n[2], n[3]}
}

// Press clicks in the middle of a control.
func (f *Fixture) Press(t testing.TB, name string) {
	t.Helper()
	x, y := f.ControlRect(t, name).Centre()
	f.session.Click(t, x, y, 1)
}

// Cover opens a window that covers the fixture's and takes the focus: an empty terminal that does not use
// the accessibility bus.
func (s *Session) Cover(t testing.TB, f *Fixture) *App {
	t.Helper()
	title := s.nextTitle("Cover")
	cover := s.Launch(t, "xterm", "-T", title, "-e", "sleep", "infinity")
	cover.await(t, "its window is up", func() bool { return s.ActiveWindow(t) == title })
	const frame = 40
	rect := f.WindowRect(t)
	s.xdotool(t, "search", "--name", "^"+title+"$", "windowmove", strconv.Itoa(max(0, rect.X-frame)), strconv.Itoa(max(0, rect.Y-frame)),
		"windowsize", "--sync", strconv.Itoa(rect.Width+2*frame), strconv.Itoa(rect.Height+2*frame), "windowraise", "windowfocus")
	s.AwaitWindowManager(t)
	f.WaitState(t, "focused", false)
	return cover
}

// xdotool runs xdotool, which must succeed.
func (s *Session) xdotool(t testing.TB, args ...string) string {
	t.Helper()
	text, err := s.tryXdotool(t, args...)
	if err != nil {
		t.Fatalf("xdotool %s: %v\n%s", strings.Join(args, " "), err, text)
	}
	return text
}

// tryXdotool runs xdotool. A search fails if a window disappears during it, and is then repeated.
func (s *Session) tryXdotool(t testing.TB, args ...string) (text string, err error) {
	t.Helper()
	const searches = 20
	for range searches {
		text, err = s.run(t, "xdotool", args...)
		if err == nil || args[0] != "search" || !strings.Contains(text, "BadWindow") {
			break
		}
	}
	return text, err
}

func (s *Session) output(t testing.TB, name string, args ...string) string {
	t.Helper()
	text, err := s.run(t, name, args...)
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, text)
	}
	return text
}

// run runs a program to its end and returns what it printed.
func (s *Session) run(t testing.TB, name string, args ...string) (string, error) {
	t.Helper()
	program, err := s.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), program, args...) // cleanups run programs, too
	cmd.Env, cmd.Dir = s.Env, s.Home
	text, err := cmd.CombinedOutput()
	return string(text), err
}

// number returns the number after name at the beginning of a line.
func number(t testing.TB, lines, name string) int {
	t.Helper()
	for line := range strings.Lines(lines) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), name); ok {
			n, err := strconv.Atoi(strings.TrimSpace(value))
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatalf("there is no %s in %q", name, lines)
	return 0
}
