package wayland_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/linux/wayland"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// TestWaylandLayouts: a text arrives in fixtures as it is, on layouts that have its letters at other keys or not at
// all, and the clipboard is as before.
func TestWaylandLayouts(t *testing.T) {
	const text, old = "The quick brown fox äöü ß € 漢字 😀 yz;", "the person's clip ü"
	letters := map[string]string{"us": "yz", "de": "yzöäüß", "fr": "yzéèçà"} // with keys of their own
	layouts := []string{"us", "de", "fr"}
	if linuxtest.ChosenCompositor() == linuxtest.Sway {
		layouts = layouts[1:2] // the gateway has a keymap of its own
	}
	for _, layout := range layouts {
		t.Run(layout, func(t *testing.T) {
			s := newSessionWith(t, layoutSetup(t, layout))
			if !listsWindows(linuxtest.ChosenCompositor()) {
				err := s.Type(t.Context(), desktop.PersonSeat, 1, text)
				got := aai.AsError(err)
				assert.Check(t, is.Equal(got.Code, aai.AutomationNotSupported), err)
				assert.Check(t, got.Hint != "", "typing without a list of windows: %v", err)
				return
			}
			if _, err := s.Set(t.Context(), desktop.Clip{Text: old}); err != nil {
				t.Fatal(err)
			}
			for _, kind := range []linuxtest.Kind{linuxtest.GTK4, linuxtest.Qt6} {
				t.Run(string(kind), func(t *testing.T) {
					f := s.Fixture(t, kind)
					w := s.inFront(t, f.Title)
					s.enterField(t, f, w, "Full name", "name")
					for _, part := range []string{"yz;#'[]{}@\\", text, letters[layout]} {
						assert.NilError(t, s.Key(t.Context(), desktop.PersonSeat, w.ID, desktop.Chord{Modifiers: []string{"ctrl"}, Key: "a"}))
						assert.NilError(t, s.Type(t.Context(), desktop.PersonSeat, w.ID, part))
						f.WaitState(t, "name", part)
					}
					keys := fmt.Sprint(f.State(t)["keys"])
					for _, letter := range letters[layout] {
						assert.Check(t, strings.ContainsRune(keys, letter), "no key typed %q; the last keys are %s", letter, keys)
					}
				})
			}
			clip, err := s.Get(t.Context())
			assert.NilError(t, err)
			assert.Check(t, is.Equal(clip.Text, old))
		})
	}
}

// layoutSetup makes a session with a keyboard layout.
func layoutSetup(t *testing.T, layout string) linuxtest.WaylandSetup {
	return linuxtest.WaylandSetup{
		Env: []string{"XKB_DEFAULT_LAYOUT=" + layout, "GSETTINGS_BACKEND=keyfile"},
		Prepare: func(s *linuxtest.Session) { // GNOME Shell has it in its settings
			file := filepath.Join(s.Home, ".config", "glib-2.0", "settings", "keyfile")
			assert.NilError(t, os.MkdirAll(filepath.Dir(file), 0o700))
			text := "[org/gnome/desktop/input-sources]\nsources=[('xkb', '" + layout + "')]\n"
			assert.NilError(t, os.WriteFile(file, []byte(text), 0o600))
		},
	}
}

// inFront brings the window with a title to the front.
func (s *session) inFront(t *testing.T, title string) desktop.WindowInfo {
	t.Helper()
	w := s.window(t, title, func(desktop.WindowInfo) bool { return true })
	if err := s.Activate(t.Context(), w.ID); err != nil { // GNOME Shell does not focus new windows by itself
		t.Fatal(err)
	}
	return s.window(t, title, isActive)
}

// clickField clicks the middle of a control of a fixture.
func (s *session) clickField(t *testing.T, d *wayland.Display, f *linuxtest.Fixture, w desktop.WindowInfo, name string) {
	t.Helper()
	var where []any
	f.WaitFor(t, "a place of "+name, func(state map[string]any) bool {
		places, _ := state["where"].(map[string]any)
		where, _ = places[name].([]any)
		return len(where) == 4 && !slices.Contains(where, any(0.0))
	})
	n := func(i int) int { return int(where[i].(float64)) }
	at := desktop.Point{X: w.Frame.X + n(0) + n(2)/2, Y: w.Frame.Y + n(1) + n(3)/2}
	const border = 50
	if f.Kind == linuxtest.Qt6 && w.Frame.W < 700+border { // the frame may have a title bar that Qt draws around its 700 by 600 pixels
		at.X += (w.Frame.W - 700) / 2
		at.Y += w.Frame.H - 600 - (w.Frame.W-700)/2
	}
	assert.NilError(t, d.Click(t.Context(), desktop.PersonSeat, w.ID, at, desktop.LeftButton, 1))
}

// enterField clicks into a field until a letter arrives there: the places that a program writes may be from before its
// window got its tile, and a program on a busy machine may miss the click by which it learns of its first pointer.
func (s *session) enterField(t *testing.T, f *linuxtest.Fixture, w desktop.WindowInfo, name, key string) {
	t.Helper()
	until(t, func() bool {
		s.clickField(t, s.Display, f, s.inFront(t, f.Title), name)
		assert.NilError(t, s.Type(t.Context(), desktop.PersonSeat, w.ID, "x"))
		for range 50 {
			if f.State(t)[key] != "" {
				return true
			}
			time.Sleep(20 * time.Millisecond)
		}
		return false
	})
}
