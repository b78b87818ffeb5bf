//go:build linux

package x11

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/testkit"
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

// attend types into a window that keeps the own keyboard between the keys, while another call wants it.
func attend(t *testing.T, d *Display, f, mine *linuxtest.Fixture) {
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

// TestKeyboards types with any text, layout and lock, with two toolkits.
func TestKeyboards(t *testing.T) {
	t.Parallel()
	s := linuxtest.Start(t)
	fixtures := []*linuxtest.Fixture{s.Fixture(t, linuxtest.GTK3), s.Fixture(t, linuxtest.Qt6)}
	for i, name := range []string{"gtk3", "qt6"} {
		t.Run("locked "+name, func(t *testing.T) { testLockedKeyboard(t, s, fixtures[i]) })
		t.Run("any text "+name, func(t *testing.T) { testAnyText(t, s, fixtures[i]) })
	}
	t.Run("layouts", func(t *testing.T) { testLayouts(t, s, fixtures) })
}

// testAnyText checks that any text arrives, with either seat.
func testAnyText(t *testing.T, s *linuxtest.Session, f *linuxtest.Fixture) {
	d := open(t, s)
	w := front(t, s, d, f)
	runes := rapid.OneOf(rapid.RuneFrom(nil, unicode.Letter, unicode.Digit, unicode.Punct, unicode.Symbol), rapid.RuneFrom([]rune("aAzZ09 ~{}@€ß🙂👍")))
	for _, seat := range []desktop.Seat{desktop.PersonSeat, desktop.OwnSeat} {
		if seat == desktop.OwnSeat {
			s.Cover(t, f)
		}
		for i := range 4 {
			text := rapid.StringOfN(runes, 1, 90, -1).Example(i + int(seat)*10)
			assert.NilError(t, d.Type(soon(t), seat, w, text))
			f.WaitState(t, "name", text)
			for _, c := range []desktop.Chord{{Key: "a", Modifiers: []string{"ctrl"}}, {Key: "backspace"}} {
				assert.NilError(t, d.Key(soon(t), seat, w, c))
			}
			f.WaitState(t, "name", "")
		}
	}
}

// testLockedKeyboard checks that neither Caps Lock nor a held Shift changes the text.
func testLockedKeyboard(t *testing.T, s *linuxtest.Session, f *linuxtest.Fixture) {
	d := open(t, s)
	w := front(t, s, d, f)
	tool(t, s, nil, "xdotool", "key", "Caps_Lock")
	assert.NilError(t, d.Type(soon(t), desktop.PersonSeat, w, "aBÄöж"))
	f.WaitState(t, "name", "aBÄöж")
	tool(t, s, nil, "xdotool", "key", "a") // Caps Lock is on as before
	f.WaitState(t, "name", "aBÄöжA")
	tool(t, s, nil, "xdotool", "key", "Caps_Lock")
	tool(t, s, nil, "xdotool", "keydown", "Shift_L")
	fails(t, d.Type(soon(t), desktop.PersonSeat, w, "x"), aai.AutomationFailed, aai.NotDelivered, "holding")
	fails(t, d.Click(soon(t), desktop.PersonSeat, w, centre(f.ControlRect(t, "Press")), desktop.LeftButton, 1), aai.AutomationFailed, aai.NotDelivered, "holding")
	assert.Check(t, d.Type(soon(t), desktop.OwnSeat, w, "x")) // the own keyboard has no Shift down
	tool(t, s, nil, "xdotool", "keyup", "Shift_L")
	f.WaitState(t, "name", "aBÄöжAx")
}

func testBadInput(t *testing.T, s *linuxtest.Session, f *linuxtest.Fixture) {
	d := open(t, s)
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
	assert.Check(t, is.Len(f.State(t)["keys"].([]any), 0))
}

// testCancelledDrag checks that the button never stays down.
func testCancelledDrag(t *testing.T, s *linuxtest.Session, f *linuxtest.Fixture) {
	d := open(t, s)
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

// keymap returns the keyboard map according to xkbcomp.
func keymap(t testing.TB, s *linuxtest.Session) string {
	t.Helper()
	return string(tool(t, s, nil, "xkbcomp", "-w", "0", s.Display, "-"))
}

// testLayouts checks, for any layout and an active second one, that typed text arrives,
// chords work, and the keyboard map is unchanged afterwards.
func testLayouts(t *testing.T, s *linuxtest.Session, fixtures []*linuxtest.Fixture) {
	for _, layout := range []struct{ name, options string }{
		{"de", ""}, {"us(dvorak)", ""}, {"ru,us", ""}, {"us,gr", "second"}, {"fr", "caps"},
	} {
		t.Run(layout.name+layout.options, func(t *testing.T) {
			tool(t, s, nil, "setxkbmap", "-layout", layout.name, "-option", "", "-option", "grp:menu_toggle")
			if layout.options == "second" {
				tool(t, s, nil, "xdotool", "key", "ISO_Next_Group")
			}
			if layout.options == "caps" {
				tool(t, s, nil, "xdotool", "key", "Caps_Lock")
				defer tool(t, s, nil, "xdotool", "key", "Caps_Lock")
			}
			before := keymap(t, s)
			d := open(t, s)
			for _, f := range fixtures {
				w := id(t, f)
				for seat, name := range map[desktop.Seat]string{desktop.PersonSeat: "person", desktop.OwnSeat: "own"} {
					assert.NilError(t, d.Activate(soon(t), w))
					f.WaitState(t, "focused", true)
					// Not with the pointer: a slow window manager holds that click back,
					// and the own keyboard would overtake it.
					assert.NilError(t, d.Click(soon(t), desktop.PersonSeat, w, centre(f.ControlRect(t, "Full name")), desktop.LeftButton, 1))
					text := name + ` yYzZ qwQW {[]}\|@#~^ äÖß éèÇ жЮ ;:'"<>? €🙂`
					for _, c := range []desktop.Chord{{Key: "a", Modifiers: []string{"ctrl"}}, {Key: "backspace"}} {
						assert.NilError(t, d.Key(soon(t), seat, w, c))
					}
					f.WaitState(t, "name", "")
					assert.NilError(t, d.Type(soon(t), seat, w, text))
					f.WaitState(t, "name", text)
				}
			}
			assert.NilError(t, d.Close())
			assert.Check(t, is.DeepEqual(before, keymap(t, s)))
		})
	}
}

// testNewLayout changes the layout while keys are borrowed.
func testNewLayout(t *testing.T, s *linuxtest.Session, f *linuxtest.Fixture) {
	d := open(t, s)
	w := front(t, s, d, f)
	want := ""
	for _, layout := range []string{"us", "de", "ru", "us"} {
		tool(t, s, nil, "setxkbmap", "-layout", layout)
		assert.NilError(t, d.Type(soon(t), desktop.PersonSeat, w, "日本z"))
		want += "日本z"
		f.WaitState(t, "name", want)
	}
}

// testClipboardUntouched checks that typing does not use the clipboard.
func testClipboardUntouched(t *testing.T, s *linuxtest.Session, f *linuxtest.Fixture) {
	d := open(t, s)
	w := front(t, s, d, f)
	copyOut(t, s, "UTF8_STRING", []byte("the person's"))
	eventually(t, func() (desktop.Clip, error) { return d.Get(soon(t)) }, func(c desktop.Clip) bool { return c.Text == "the person's" })
	text := strings.Repeat("日本 🙂 ", 5)
	assert.NilError(t, d.Type(soon(t), desktop.PersonSeat, w, text))
	f.WaitState(t, "name", text)
	got := pasted(t, s, "UTF8_STRING")
	assert.Check(t, is.Equal(string(got), "the person's"), "%q", got)
}

// typing makes the test binary another gateway, with the text and the window.
const typing = "X11_TEST_TYPES"

func TestMain(m *testing.M) {
	if what := os.Getenv(typing); what != "" {
		fmt.Println(typeAndEnd(what))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// typeAndEnd types the text into the window, reports it, and closes the gateway on demand.
func typeAndEnd(what string) error {
	window, text, _ := strings.Cut(what, " ")
	n, err := strconv.ParseUint(window, 10, 32)
	if err != nil {
		return err
	}
	d := New(Config{Getenv: os.Getenv, InputLock: inputlock.New(inputlock.Config{Folder: inputlock.Folder, Getenv: os.Getenv})})
	ctx, cancel := context.WithTimeout(context.Background(), testPatience)
	defer cancel()
	fmt.Println(d.Type(ctx, desktop.PersonSeat, desktop.WindowID(n), text))
	_, _ = io.Copy(io.Discard, os.Stdin)
	return d.Close()
}

// An otherGateway is a gateway in another process.
type otherGateway struct{ *testkit.Process }

// types starts a gateway that types, and returns when it has typed.
func types(t *testing.T, s *linuxtest.Session, w desktop.WindowID, text string) otherGateway {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(s.Env, fmt.Sprintf("%s=%d %s", typing, w, text))
	g := otherGateway{testkit.StartProcess(t, cmd)}
	t.Cleanup(func() { _ = g.Close() })
	g.does(t)
	return g
}

// does waits until it has done its work without an error.
func (g otherGateway) does(t *testing.T) {
	t.Helper()
	err := g.ReadLine(t)
	assert.Equal(t, err, "<nil>", "the other gateway says %q", err)
}

// end closes the gateway regularly.
func (g otherGateway) end(t *testing.T) {
	t.Helper()
	_ = g.In.Close()
	g.does(t)
}

// testLocksGivenBack checks that a gateway that typed during Caps Lock leaves no
// record for the next one to lock, after the person has turned it off.
func testLocksGivenBack(t *testing.T, s *linuxtest.Session, f *linuxtest.Fixture) {
	w := front(t, s, open(t, s), f)
	typed := ""
	arrives := func(text string) {
		t.Helper()
		typed += text
		f.WaitState(t, "name", typed)
	}
	for _, text := range []string{"aB", "keys on loan: я"} {
		tool(t, s, nil, "xdotool", "key", "Caps_Lock")
		g := types(t, s, w, text)
		arrives(text)
		g.end(t)
		tool(t, s, nil, "xdotool", "key", "Caps_Lock")
		assert.NilError(t, open(t, s).Type(soon(t), desktop.OwnSeat, w, "c"))
		arrives("c")
		tool(t, s, nil, "xdotool", "type", "person")
		arrives("person")
	}
}
