//go:build linux

package x11_test

import (
	"context"
	"errors"
	"testing"
	"time"
	"unicode"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/linux/x11"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

func centre(r linuxtest.Rect) desktop.Point { return rect(r).Center() }

// fruits returns a point of the list; in some toolkits its rectangle includes
// scrolled-away parts.
func fruits(t testing.TB, f *linuxtest.Fixture) desktop.Point {
	t.Helper()
	r := f.ControlRect(t, "Fruits")
	return desktop.Point{X: r.X + 50, Y: r.Y + 60}
}

func TestPersonClicks(t *testing.T) {
	t.Parallel()
	s := linuxtest.Start(t)
	d := open(t, s)
	for _, kind := range linuxtest.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			f := s.Fixture(t, kind)
			w := id(t, f)
			press := centre(f.ControlRect(t, "Press"))
			assert.NilError(t, d.Click(soon(t), desktop.PersonSeat, w, press, desktop.LeftButton, 1))
			f.WaitState(t, "presses", 1)
			canvas := f.ControlRect(t, "Canvas")
			at := centre(canvas)
			for _, button := range []desktop.MouseButton{desktop.RightButton, desktop.LeftButton} {
				assert.NilError(t, d.Click(soon(t), desktop.PersonSeat, w, at, button, 2))
			}
			f.WaitFor(t, "the canvas is clicked", func(state map[string]any) bool {
				clicks, _ := state["clicks"].([]any)
				return len(clicks) == 4 && clicks[1].(map[string]any)["count"] == 2.0 && clicks[3].(map[string]any)["count"] == 2.0
			})
			to := desktop.Point{X: at.X + 40, Y: at.Y + 30}
			assert.NilError(t, d.Drag(soon(t), desktop.PersonSeat, w, at, to, 100*time.Millisecond))
			f.WaitFor(t, "the canvas is dragged", func(state map[string]any) bool {
				drags, _ := state["drags"].([]any)
				return len(drags) == 1
			})
			fruits := fruits(t, f)
			assert.NilError(t, d.Scroll(soon(t), desktop.PersonSeat, w, fruits, 0, 3))
			f.WaitFor(t, "the list scrolls", func(state map[string]any) bool { return state["scroll"].(float64) > 0 })
			// A busy Chromium drops some of the scrolling: then the wheel is turned again.
			await(t, "the list is scrolled back", func() bool {
				assert.NilError(t, d.Scroll(soon(t), desktop.PersonSeat, w, fruits, 0, -3))
				for until := time.Now().Add(time.Second); f.State(t)["scroll"] != 0.0 && time.Now().Before(until); {
					time.Sleep(10 * time.Millisecond)
				}
				return f.State(t)["scroll"] == 0.0
			})
			s.Cover(t, f)
			fails(t, d.Click(soon(t), desktop.PersonSeat, w, press, desktop.LeftButton, 1), aai.AutomationFailed, aai.NotDelivered, "another window lies over it", "Cover")
			f.Kill(t)
		})
	}
}

func TestPersonTypes(t *testing.T) {
	t.Parallel()
	s := linuxtest.Start(t)
	d := open(t, s)
	for _, kind := range linuxtest.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			f := s.Fixture(t, kind)
			w := id(t, f)
			f.Press(t, "Full name")
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
			s.Cover(t, f)
			fails(t, d.Type(soon(t), desktop.PersonSeat, w, "x"), aai.AutomationFailed, aai.NotDelivered, "does not have the keyboard")
			f.Kill(t)
		})
	}
}

// TestOwnSeat works in a window while the person works in another one, and checks their
// focus, pointer and text.
func TestOwnSeat(t *testing.T) {
	t.Parallel()
	for _, kind := range linuxtest.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			s := linuxtest.Start(t)
			d := open(t, s)
			f := s.Fixture(t, kind)
			w := id(t, f)
			list := fruits(t, f)
			f.Press(t, "Full name")
			mine := s.Fixture(t, linuxtest.GTK3)
			tool(t, s, nil, "xdotool", "windowmove", "--sync", mine.Window(t), "850", "20")
			mine.Press(t, "Full name")
			f.WaitState(t, "focused", false)
			x, y := s.Pointer(t)
			undisturbed := func(what string) {
				t.Helper()
				x2, y2 := s.Pointer(t)
				assert.Check(t, is.Equal(x, x2), what)
				assert.Check(t, is.Equal(y, y2), what)
				// The window manager gets the own keyboard's events one by one.
				await(t, "the person's window is active after "+what, func() bool {
					return s.ActiveWindow(t) == mine.Title && window(t, d, mine).Active
				})
				focus := string(tool(t, s, nil, "xdotool", "getwindowfocus", "getwindowname"))
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
			f.WaitFor(t, "the list scrolls", func(state map[string]any) bool { return state["scroll"].(float64) > 0 })
			undisturbed("Scroll")
			tool(t, s, nil, "xdotool", "type", "person")
			mine.WaitState(t, "name", "person")
			fails(t, d.Click(soon(t), desktop.OwnSeat, w, list, desktop.LeftButton, 1), aai.AutomationNotSupported, aai.NotDelivered)
			fails(t, d.Drag(soon(t), desktop.OwnSeat, w, list, list, 0), aai.AutomationNotSupported, aai.NotDelivered)
			minimize(t, s, d, w)
			fails(t, d.Type(soon(t), desktop.OwnSeat, w, "x"), aai.AutomationNotSupported, aai.NotDelivered, "minimized")
		})
	}
}

// attend types into a window that keeps the own keyboard between the keys, while another call wants it.
func attend(t *testing.T, d *x11.Display, f, mine *linuxtest.Fixture) {
	t.Helper()
	w, other := id(t, f), make(chan error, 1)
	err := d.WithKeyboard(soon(t), desktop.OwnSeat, w, func(ctx context.Context, input desktop.Input) error {
		f.WaitState(t, "focused", true)
		go func() { other <- d.Key(soon(t), desktop.OwnSeat, id(t, mine), desktop.Chord{Key: "right"}) }()
		if err := input.Type(ctx, desktop.OwnSeat, w, "YZ"); err != nil {
			return err
		}
		f.WaitState(t, "name", "XYZ")
		fails(t, input.Key(ctx, desktop.OwnSeat, id(t, mine), desktop.Chord{Key: "A"}), aai.AutomationFailed, aai.NotDelivered, "another window")
		fails(t, input.Click(ctx, desktop.OwnSeat, w, desktop.Point{}, desktop.LeftButton, 1), aai.AutomationNotSupported, aai.NotDelivered, "pointer")
		return input.WithKeyboard(ctx, desktop.OwnSeat, w, func(ctx context.Context, input desktop.Input) error {
			f.WaitState(t, "focused", true)
			return input.Key(ctx, desktop.OwnSeat, w, desktop.Chord{Key: "backspace"})
		})
	})
	assert.NilError(t, err)
	f.WaitState(t, "name", "XY")
	f.WaitState(t, "focused", false)
	err = <-other
	assert.Check(t, err, "who came meanwhile: %v", err)
}

// TestTypesAnything checks that any text arrives, with either seat.
func TestTypesAnything(t *testing.T) {
	t.Parallel()
	s := linuxtest.Start(t)
	d := open(t, s)
	for _, kind := range []linuxtest.Kind{linuxtest.GTK3, linuxtest.Qt6} {
		for seat, name := range map[desktop.Seat]string{desktop.PersonSeat: "person", desktop.OwnSeat: "own"} {
			t.Run(string(kind)+"/"+name, func(t *testing.T) {
				f := s.Fixture(t, kind)
				w := id(t, f)
				f.Press(t, "Full name")
				if seat == desktop.OwnSeat {
					s.Cover(t, f)
				}
				runes := rapid.OneOf(rapid.RuneFrom(nil, unicode.Letter, unicode.Digit, unicode.Punct, unicode.Symbol), rapid.RuneFrom([]rune("aAzZ09 ~{}@€ß🙂👍")))
				for i := range 4 {
					text := rapid.StringOfN(runes, 1, 90, -1).Example(i + int(seat)*10)
					assert.NilError(t, d.Type(soon(t), seat, w, text))
					f.WaitState(t, "name", text)
					for _, c := range []desktop.Chord{{Key: "a", Modifiers: []string{"ctrl"}}, {Key: "backspace"}} {
						assert.NilError(t, d.Key(soon(t), seat, w, c))
					}
					f.WaitState(t, "name", "")
				}
				f.Kill(t)
			})
		}
	}
}

// TestLockedKeyboard checks that neither Caps Lock nor a held Shift changes the text.
func TestLockedKeyboard(t *testing.T) {
	t.Parallel()
	s := linuxtest.Start(t)
	d := open(t, s)
	for _, kind := range []linuxtest.Kind{linuxtest.GTK3, linuxtest.Qt6} {
		f := s.Fixture(t, kind)
		w := id(t, f)
		f.Press(t, "Full name")
		tool(t, s, nil, "xdotool", "key", "Caps_Lock")
		assert.NilError(t, d.Type(soon(t), desktop.PersonSeat, w, "aBÄöж"))
		f.WaitState(t, "name", "aBÄöж")
		tool(t, s, nil, "xdotool", "key", "a") // Caps Lock is on as before
		f.WaitState(t, "name", "aBÄöжA")
		tool(t, s, nil, "xdotool", "key", "Caps_Lock")
		tool(t, s, nil, "xdotool", "keydown", "Shift_L")
		fails(t, d.Type(soon(t), desktop.PersonSeat, w, "x"), aai.AutomationFailed, aai.NotDelivered, "holding")
		fails(t, d.Click(soon(t), desktop.PersonSeat, w, centre(f.ControlRect(t, "Press")), desktop.LeftButton, 1), aai.AutomationFailed, aai.NotDelivered, "holding")
		if err := d.Type(soon(t), desktop.OwnSeat, w, "x"); err != nil {
			t.Error(err) // the own keyboard has no Shift down
		}
		tool(t, s, nil, "xdotool", "keyup", "Shift_L")
		f.WaitState(t, "name", "aBÄöжAx")
		f.Kill(t)
	}
}

func TestBadInput(t *testing.T) {
	s := linuxtest.Start(t)
	d := open(t, s)
	f := s.Fixture(t, linuxtest.GTK3)
	w := id(t, f)
	at := centre(f.ControlRect(t, "Press"))
	for _, seat := range []desktop.Seat{desktop.OwnSeat, desktop.PersonSeat} {
		fails(t, d.Type(soon(t), seat, w, "a\x1bb"), aai.InvalidParams, aai.NotDelivered, "U+001B", "byte 1")
		fails(t, d.Type(soon(t), seat, w, "\xff"), aai.InvalidParams, aai.NotDelivered, "UTF-8")
		fails(t, d.Type(soon(t), seat, 0x1ffffff0, "a"), aai.AutomationFailed, aai.NotDelivered, "not there any more")
		fails(t, d.Key(soon(t), seat, w, desktop.Chord{Key: "retrun"}), aai.InvalidParams, aai.NotDelivered, `"retrun"`)
		fails(t, d.Key(soon(t), seat, w, desktop.Chord{Key: "a", Modifiers: []string{"ctlr"}}), aai.InvalidParams, aai.NotDelivered, `"ctlr"`)
		fails(t, d.Click(soon(t), seat, w, at, 4, 1), aai.InvalidParams, aai.NotDelivered)
		fails(t, d.Click(soon(t), seat, w, at, 1, 0), aai.InvalidParams, aai.NotDelivered)
		fails(t, d.Scroll(soon(t), seat, w, at, 0, -1<<63), aai.InvalidParams, aai.NotDelivered)
		fails(t, d.Scroll(soon(t), seat, w, desktop.Point{X: 1599, Y: 999}, 0, 1), aai.AutomationFailed, aai.NotDelivered)
	}
	fails(t, d.Type(soon(t), 7, w, "a"), aai.InvalidParams, "")
	fails(t, d.Drag(soon(t), desktop.PersonSeat, w, at, desktop.Point{X: 1, Y: 5000}, 0), aai.InvalidParams, aai.NotDelivered, "5000")
	err := d.Key(soon(t), desktop.OwnSeat, w, desktop.Chord{Key: "pagedwon"})
	e, ok := errors.AsType[*aai.Error](err)
	assert.Assert(t, ok, "%v has no good candidates", err)
	assert.Assert(t, len(e.Candidates) != 0, "%v has no good candidates", err)
	assert.Equal(t, e.Candidates[0], "pagedown", err)
	keys := f.State(t)["keys"].([]any)
	assert.Check(t, is.Len(keys, 0), "these keys were pressed: %v", keys)
}

// TestCancelledDrag checks that the button never stays down.
func TestCancelledDrag(t *testing.T) {
	s := linuxtest.Start(t)
	d := open(t, s)
	f := s.Fixture(t, linuxtest.GTK3)
	at := centre(f.ControlRect(t, "Canvas"))
	ctx := &timed{Context: t.Context(), over: make(chan struct{})}
	dragged := make(chan error, 1)
	go func() {
		dragged <- d.Drag(ctx, desktop.PersonSeat, id(t, f), at, desktop.Point{X: at.X + 100, Y: at.Y + 50}, time.Hour)
	}()
	f.WaitFor(t, "the button is down", func(state map[string]any) bool { return len(state["clicks"].([]any)) > 0 })
	close(ctx.over)
	fails(t, <-dragged, aai.Timeout, aai.DeliveryUnknown)
	// With a button down no click is made.
	assert.Check(t, d.Click(soon(t), desktop.PersonSeat, id(t, f), at, desktop.LeftButton, 1))
}

// A timed context has a deadline that the test triggers.
type timed struct {
	context.Context
	over chan struct{}
}

func (c *timed) Done() <-chan struct{} { return c.over }

func (c *timed) Err() error {
	select {
	case <-c.over:
		return context.DeadlineExceeded
	default:
		return nil
	}
}
