//go:build linux

package x11

import (
	"context"
	"image"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// A scene is a session with the window of a toolkit.
type scene struct {
	*linuxtest.Session
	d    *Display
	conn *server
	f    *linuxtest.Fixture
	kind linuxtest.Kind
	w    desktop.WindowID
}

// TestToolkits operates one window of each toolkit. The steps stand in the order in which they leave the window usable.
func TestToolkits(t *testing.T) {
	t.Parallel()
	for _, kind := range linuxtest.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			s := &scene{Session: linuxtest.Start(t), kind: kind}
			s.d, s.conn, _ = inside(t, s.Session)
			s.f = s.Fixture(t, kind)
			s.w = id(t, s.f)
			for _, step := range []struct {
				name string
				run  func(*scene, *testing.T)
			}{
				{"windows", (*scene).windows}, {"captures", (*scene).captures}, {"clicks", (*scene).clicks}, {"types", (*scene).types},
				{"slow", (*scene).slow}, {"shared window", (*scene).sharesWindow}, {"own seat", (*scene).ownSeat},
				{"own pointer", (*scene).ownPointer}, {"ended", (*scene).ended},
			} {
				if !t.Run(step.name, func(t *testing.T) { step.run(s, t) }) {
					return
				}
			}
		})
	}
}

func (s *scene) windows(t *testing.T) {
	d, f := s.d, s.f
	w := window(t, d, f)
	assert.Check(t, is.Equal(w.Title, f.Title))
	assert.Check(t, s.kind == linuxtest.Chromium || w.PID == f.PID, "its process is %d, want %d", w.PID, f.PID)
	assert.Check(t, w.Class != "", "it has no class")
	assert.Check(t, is.Equal(w.Frame, rect(f.WindowRect(t))))
	assert.Check(t, is.Equal(shown(w), "active"))
	cover := s.Cover(t, f)
	w = window(t, d, f)
	assert.Check(t, is.Equal(shown(w), "covered"))
	seen, err := d.WindowAt(soon(t), w.Frame.Center())
	assert.NilError(t, err)
	assert.Equal(t, seen.PID, cover.PID, "%+v", seen)
	assert.Check(t, is.Equal(shown(seen), "active"))
	assert.NilError(t, d.Activate(soon(t), w.ID))
	// The window manager reports it a little later.
	until(soon(t), t, "the window to be active after Activate", func() bool { return s.ActiveWindow(t) == f.Title })
	seen, err = d.WindowAt(soon(t), w.Frame.Center())
	assert.NilError(t, err)
	assert.Equal(t, seen.ID, w.ID, "%+v", seen)
	windows, err := d.Windows(soon(t))
	assert.NilError(t, err)
	assert.Equal(t, windows[0].ID, w.ID, "%+v", windows)
}

// shown describes how a window is on the screen.
func shown(w desktop.WindowInfo) string {
	words := ""
	for _, c := range []struct {
		word string
		is   bool
	}{{"active", w.Active}, {"covered", w.Covered == 1}, {"in part", w.Covered > 0 && w.Covered < 1}, {"minimized", w.Minimized}} {
		if c.is {
			words += c.word
		}
	}
	return words
}

func (s *scene) captures(t *testing.T) {
	d, f := s.d, s.f
	steady(t, s.Session)
	w := window(t, d, f)
	want := screenshot(t, s.Session)
	cover := s.Cover(t, f)
	covered, err := d.CaptureWindow(soon(t), w.ID)
	assert.NilError(t, err)
	again, err := d.CaptureWindow(soon(t), w.ID)
	assert.NilError(t, err)
	// A focused window looks different, and carets blink: a few pixels.
	n := differ(covered, want, image.Pt(w.Frame.X, w.Frame.Y))
	assert.Check(t, n <= covered.Bounds().Dx()*covered.Bounds().Dy()/10, "%d pixels of %v differ", n, covered.Bounds())
	n = differ(again, covered, image.Point{})
	assert.Check(t, n <= 5000, "the second picture differs in %d pixels", n)
	cover.Kill(t)
	xid := f.Window(t)
	tool(t, s.Session, nil, "xdotool", "windowsize", "--sync", xid, "800", "650", "windowmove", xid, "20", "20")
	steady(t, s.Session)
	resized, err := d.CaptureWindow(soon(t), w.ID)
	assert.NilError(t, err)
	w = window(t, d, f)
	assert.Check(t, is.Equal(resized.Bounds(), image.Rect(0, 0, w.Frame.W, w.Frame.H)))
	n = differ(resized, screenshot(t, s.Session), image.Pt(w.Frame.X, w.Frame.Y))
	assert.Check(t, n <= 5000, "after resizing, %d pixels differ", n)
	minimize(t, s.Session, d, w.ID)
	assert.Check(t, is.Equal(shown(windowByID(t, d, w.ID)), "coveredminimized"))
	_, err = d.CaptureWindow(soon(t), w.ID)
	fails(t, err, aai.AutomationNotSupported, aai.NotDelivered, "minimized")
	assert.NilError(t, d.Activate(soon(t), w.ID))
	until(soon(t), t, "the window to be back", func() bool { return s.ActiveWindow(t) == f.Title })
}

// clicked reports whether the last clicks on the canvas are of these buttons and counts.
func clicked(state map[string]any, want ...[2]float64) bool {
	clicks, _ := state["clicks"].([]any)
	if len(clicks) < len(want) {
		return false
	}
	for i, c := range clicks[len(clicks)-len(want):] {
		if click := c.(map[string]any); click["button"] != want[i][0] || click["count"] != want[i][1] {
			return false
		}
	}
	return true
}

// drags returns the number of drags over the canvas.
func drags(state map[string]any) int {
	drags, _ := state["drags"].([]any)
	return len(drags)
}

func scrolled(state map[string]any) bool { return state["scroll"].(float64) > 0 }

func (s *scene) clicks(t *testing.T) {
	d, f, w := s.d, s.f, s.w
	press := centre(f.ControlRect(t, "Press"))
	assert.NilError(t, d.Click(soon(t), desktop.PersonSeat, w, press, desktop.LeftButton, 1))
	f.WaitState(t, "presses", 1)
	at := centre(f.ControlRect(t, "Canvas"))
	for _, button := range []desktop.MouseButton{desktop.RightButton, desktop.LeftButton} {
		assert.NilError(t, d.Click(soon(t), desktop.PersonSeat, w, at, button, 2))
	}
	f.WaitFor(t, "the canvas is clicked", func(state map[string]any) bool {
		return clicked(state, [2]float64{3, 1}, [2]float64{3, 2}, [2]float64{1, 1}, [2]float64{1, 2})
	})
	to := desktop.Point{X: at.X + 40, Y: at.Y + 30}
	assert.NilError(t, d.Drag(soon(t), desktop.PersonSeat, w, at, to, 100*time.Millisecond))
	f.WaitFor(t, "the canvas is dragged", func(state map[string]any) bool { return drags(state) == 1 })
	fruits := fruits(t, f)
	assert.NilError(t, d.Scroll(soon(t), desktop.PersonSeat, w, fruits, 0, 3))
	f.WaitFor(t, "the list scrolls", scrolled)
	// A busy Chromium drops some of the scrolling: then the wheel is turned again.
	until(soon(t), t, "the list to be scrolled back", func() bool {
		assert.NilError(t, d.Scroll(soon(t), desktop.PersonSeat, w, fruits, 0, -3))
		for until := time.Now().Add(time.Second); f.State(t)["scroll"] != 0.0 && time.Now().Before(until); {
			time.Sleep(10 * time.Millisecond)
		}
		return f.State(t)["scroll"] == 0.0
	})
	s.Cover(t, f)
	fails(t, d.Click(soon(t), desktop.PersonSeat, w, press, desktop.LeftButton, 1), aai.AutomationFailed, aai.NotDelivered, "another window lies over it", "Cover")
	fails(t, d.Type(soon(t), desktop.PersonSeat, w, "x"), aai.AutomationFailed, aai.NotDelivered, "does not have the keyboard")
}

func (s *scene) types(t *testing.T) {
	frontWindow(t, s.Session, s.d, s.f, s.w)
	d, f, w := s.d, s.f, s.w
	text := `Grüße αβγ €🙂 日本 {"a":1} ~^'` + "`" + ` ÄÖ`
	assert.NilError(t, d.Type(soon(t), desktop.PersonSeat, w, text))
	f.WaitState(t, "name", text)
	f.Press(t, "Notes")
	assert.NilError(t, d.Type(soon(t), desktop.PersonSeat, w, "a\nb\r\nC"))
	f.WaitState(t, "notes", "a\nb\nC")
	for _, c := range []desktop.Chord{{Key: "a", Modifiers: []string{"ctrl"}}, {Key: "Delete"}, {Key: "X"}} {
		assert.NilError(t, d.Key(soon(t), desktop.PersonSeat, w, c))
	}
	f.WaitState(t, "notes", "X")
}

// manyRunes returns a text for which no keyboard has enough keys.
func manyRunes(n rune) string {
	var text strings.Builder
	for r := range n {
		text.WriteRune('一' + r)
	}
	return text.String()
}

// slow checks that a program that pauses gets the same text, even if keys change their meaning several times, and that
// one that hangs gets no text for which it would need new keys.
func (s *scene) slow(t *testing.T) {
	frontWindow(t, s.Session, s.d, s.f, s.w)
	many := manyRunes(120)
	s.f.Suspend(t)
	for range 2 { // the second time the keys have their meanings already
		// On a busy machine the time may be over before it reaches the program.
		says := ""
		for limit := 100 * time.Millisecond; !strings.Contains(says, "does not read its keys") && limit < testPatience; limit *= 2 {
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			err := s.d.Type(ctx, desktop.PersonSeat, s.w, many)
			cancel()
			fails(t, err, aai.Timeout, aai.NotDelivered)
			says = err.Error()
		}
		assert.Assert(t, is.Contains(says, "does not read its keys"))
	}
	done := make(chan error)
	go func() { done <- s.d.Type(soon(t), desktop.PersonSeat, s.w, many) }()
	time.Sleep(50 * time.Millisecond) // for some of it to be typed
	s.f.Continue(t)
	assert.NilError(t, <-done)
	s.f.WaitState(t, "name", many)
}

// sharesWindow checks that the person's window does not take the own seat's leaving for the person's. The seat stays in
// GTK windows, since GTK 3 may exit without it. It leaves others, since Chromium ignores the person's keys meanwhile.
func (s *scene) sharesWindow(t *testing.T) {
	frontWindow(t, s.Session, s.d, s.f, s.w)
	ctx := soon(t)
	stays := map[linuxtest.Kind]int{linuxtest.GTK3: 1, linuxtest.GTK4: 1}[s.kind]
	assert.NilError(t, s.d.Key(ctx, desktop.OwnSeat, s.w, desktop.Chord{Key: "a"}))
	s.f.WaitState(t, "name", "a")
	until(ctx, t, "the seat to leave", func() bool { return stays == 1 || len(seats(ctx, t, s.conn)) == 0 })
	if stays == 1 {
		time.Sleep(3 * (seatRest + leavePatience + readSoon)) // in which it would have gone
	}
	assert.Check(t, is.Len(seats(ctx, t, s.conn), stays))
	tool(t, s.Session, nil, "xdotool", "type", "b")
	s.f.WaitState(t, "name", "ab")
	s.f.WaitState(t, "focused", true)
}

// ownSeat works in a window while the person works in another one, and checks their focus, pointer and text.
func (s *scene) ownSeat(t *testing.T) {
	frontWindow(t, s.Session, s.d, s.f, s.w)
	d, f, w := s.d, s.f, s.w
	list := fruits(t, f)
	mine := s.Fixture(t, linuxtest.GTK3)
	tool(t, s.Session, nil, "xdotool", "windowmove", "--sync", mine.Window(t), "850", "20")
	mine.Press(t, "Full name")
	f.WaitState(t, "focused", false)
	x, y := s.Pointer(t)
	undisturbed := func(what string) {
		t.Helper()
		x2, y2 := s.Pointer(t)
		assert.Check(t, is.Equal(x, x2), what)
		assert.Check(t, is.Equal(y, y2), what)
		// The window manager gets the own keyboard's events one by one.
		until(soon(t), t, "the person's window to be active after "+what, func() bool {
			return s.ActiveWindow(t) == mine.Title && window(t, d, mine).Active
		})
		focus := string(tool(t, s.Session, nil, "xdotool", "getwindowfocus", "getwindowname"))
		assert.Check(t, is.Equal(focus, mine.Title+"\n"), "after %s the focus is in %q", what, focus)
	}
	text := "hello Wörld ABC! €🙂"
	assert.NilError(t, d.Type(soon(t), desktop.OwnSeat, w, text))
	f.WaitState(t, "name", text)
	undisturbed("Type")
	for _, c := range []desktop.Chord{{Key: "a", Modifiers: []string{"ctrl"}}, {Key: "Delete"}, {Key: "X"}} {
		assert.NilError(t, d.Key(soon(t), desktop.OwnSeat, w, c))
	}
	f.WaitState(t, "name", "X")
	undisturbed("Key")
	attend(t, d, f, mine)
	undisturbed("Attend")
	assert.NilError(t, d.Scroll(soon(t), desktop.OwnSeat, w, list, 0, 3))
	f.WaitFor(t, "the list scrolls", scrolled)
	undisturbed("Scroll")
	tool(t, s.Session, nil, "xdotool", "type", "person")
	mine.WaitState(t, "name", "person")
	fails(t, d.Click(soon(t), desktop.OwnSeat, w, list, desktop.LeftButton, 1), aai.AutomationNotSupported, aai.NotDelivered)
	fails(t, d.Drag(soon(t), desktop.OwnSeat, w, list, list, 0), aai.AutomationNotSupported, aai.NotDelivered)
	minimize(t, s.Session, d, w)
	fails(t, d.Type(soon(t), desktop.OwnSeat, w, "x"), aai.AutomationNotSupported, aai.NotDelivered, "minimized")
}

// ownPointer checks that, without a window manager, windows are listed, and that the own pointer clicks and drags without
// moving the person's pointer and focus.
func (s *scene) ownPointer(t *testing.T) {
	d, f, ctx := s.d, s.f, soon(t)
	assert.NilError(t, d.Activate(ctx, s.w))
	until(ctx, t, "the window to be active", func() bool { return s.ActiveWindow(t) == f.Title })
	mine := s.Launch(t, "xterm", "-geometry", "30x10+1000+700", "-e", "sleep", "infinity")
	f.WaitState(t, "focused", false)
	windows, err := d.Windows(ctx)
	assert.NilError(t, err)
	assert.Assert(t, is.Len(windows, 2))
	assert.Equal(t, windows[0].PID, mine.PID)
	assert.Assert(t, windows[0].Frame.Intersect(window(t, d, f).Frame).Empty(), "%+v", windows)
	quiet(t, s.conn)
	assert.NilError(t, d.Activate(ctx, windows[0].ID))
	assert.Equal(t, window(t, d, f).Title, f.Title)
	x, y := s.Pointer(t)
	at := centre(f.ControlRect(t, "Canvas"))
	for _, c := range []struct {
		button desktop.MouseButton
		count  int
	}{{desktop.LeftButton, 1}, {desktop.RightButton, 1}, {desktop.LeftButton, 2}} {
		at.X += 15 // far enough not to be one more click of the last
		assert.NilError(t, d.Click(ctx, desktop.OwnSeat, s.w, at, c.button, c.count))
	}
	f.WaitFor(t, "the canvas is clicked", func(state map[string]any) bool {
		return clicked(state, [2]float64{1, 1}, [2]float64{3, 1}, [2]float64{1, 1}, [2]float64{1, 2})
	})
	before := drags(f.State(t))
	assert.NilError(t, d.Drag(ctx, desktop.OwnSeat, s.w, at, desktop.Point{X: at.X - 30, Y: at.Y + 20}, 0))
	f.WaitFor(t, "the canvas is dragged", func(state map[string]any) bool { return drags(state) == before+1 })
	x2, y2 := s.Pointer(t)
	assert.Check(t, is.Equal(x, x2))
	assert.Check(t, is.Equal(y, y2))
	has, err := s.conn.hasKeyboard(ctx, xid(windows[0].ID))
	assert.NilError(t, err)
	assert.Assert(t, has, "the person's window has lost the keyboard")
}

// ended checks calls for a window that is no longer there.
func (s *scene) ended(t *testing.T) {
	s.f.Kill(t)
	_, err := s.d.CaptureWindow(soon(t), s.w)
	fails(t, err, aai.AutomationFailed, aai.NotDelivered, "not there any more")
	fails(t, s.d.Activate(soon(t), s.w), aai.AutomationFailed, aai.NotDelivered, "not there any more")
}
