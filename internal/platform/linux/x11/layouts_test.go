//go:build linux

package x11_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// keymap returns the keyboard map according to xkbcomp.
func keymap(t testing.TB, s *linuxtest.Session) string {
	t.Helper()
	return string(tool(t, s, nil, "xkbcomp", "-w", "0", s.Display, "-"))
}

// TestLayouts checks, for any layout and an active second one, that typed text arrives,
// chords work, and the keyboard map is unchanged afterwards.
func TestLayouts(t *testing.T) {
	t.Parallel()
	s := linuxtest.Start(t)
	fixtures := []*linuxtest.Fixture{s.Fixture(t, linuxtest.GTK3), s.Fixture(t, linuxtest.Qt6)}
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

// TestNewLayout changes the layout while keys are borrowed.
func TestNewLayout(t *testing.T) {
	s := linuxtest.Start(t)
	d := open(t, s)
	f := s.Fixture(t, linuxtest.GTK3)
	f.Press(t, "Full name")
	want := ""
	for _, layout := range []string{"us", "de", "ru", "us"} {
		tool(t, s, nil, "setxkbmap", "-layout", layout)
		assert.NilError(t, d.Type(soon(t), desktop.PersonSeat, id(t, f), "日本z"))
		want += "日本z"
		f.WaitState(t, "name", want)
	}
}

// TestSlowProgram checks that a program that pauses gets the same text, even if keys
// change their meaning several times, and that one that hangs gets no text for which it
// would need new keys.
func TestSlowProgram(t *testing.T) {
	t.Parallel()
	s := linuxtest.Start(t)
	d := open(t, s)
	for _, kind := range linuxtest.Kinds() {
		f := s.Fixture(t, kind)
		f.Press(t, "Full name")
		w := id(t, f)
		var many strings.Builder
		for r := range rune(120) {
			many.WriteRune('一' + r)
		}
		f.Suspend(t)
		for range 2 { // the second time the keys have their meanings already
			// On a busy machine the time may be over before it reaches the program.
			says := ""
			for limit := 100 * time.Millisecond; !strings.Contains(says, "does not read its keys") && limit < patience; limit *= 2 {
				ctx, cancel := context.WithTimeout(t.Context(), limit)
				err := d.Type(ctx, desktop.PersonSeat, w, many.String())
				cancel()
				fails(t, err, aai.Timeout, aai.NotDelivered)
				says = err.Error()
			}
			assert.Assert(t, is.Contains(says, "does not read its keys"))
		}
		done := make(chan error)
		go func() { done <- d.Type(soon(t), desktop.PersonSeat, w, many.String()) }()
		time.Sleep(50 * time.Millisecond) // for some of it to be typed
		f.Continue(t)
		assert.NilError(t, <-done, kind)
		f.WaitState(t, "name", many.String())
		f.Kill(t)
	}
}

// TestClipboardUntouched checks that typing does not use the clipboard.
func TestClipboardUntouched(t *testing.T) {
	s := linuxtest.Start(t)
	d := open(t, s)
	f := s.Fixture(t, linuxtest.GTK3)
	f.Press(t, "Full name")
	copyOut(t, s, "UTF8_STRING", []byte("the person's"))
	eventually(t, func() (desktop.Clip, error) { return d.Get(soon(t)) }, func(c desktop.Clip) bool { return c.Text == "the person's" })
	text := strings.Repeat("日本 🙂 ", 5)
	assert.NilError(t, d.Type(soon(t), desktop.PersonSeat, id(t, f), text))
	f.WaitState(t, "name", text)
	got := pasted(t, s, "UTF8_STRING")
	assert.Check(t, is.Equal(string(got), "the person's"), "%q", got)
}
