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
	"github.com/gybob/aai-gateway/internal/platform/linux/atspi"
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

// TestSwayChromium: a click arrives in the page of Chromium, whose frame contains a shadow: tiled and floating. On a
// scaled monitor, where the frames in a page are not in the pixels of the window, elements have no places.
func TestSwayChromium(t *testing.T) {
	if linuxtest.ChosenCompositor() != linuxtest.Sway {
		return // only sway's tests have Chromium
	}
	s := newSession(t)
	tree := s.newTree(t)
	file := s.Path("tmp", "target.html")
	const page = `<title>target 0</title><button style="margin: 150px; width: 80px; height: 40px; border: 0">Target</button><script>
n = 0; onresize = () => document.title = "target " + n + " at " + innerWidth
onclick = e => document.title = "target " + ++n + " " + (e.offsetX - 40) + " " + (e.offsetY - 20) + " " + e.target.tagName</script>`
	assert.NilError(t, os.WriteFile(file, []byte(page), 0o644))
	f := &linuxtest.Fixture{App: s.Browser(t, "file://"+file)}
	w := s.windowThat(t, func(w desktop.WindowInfo) bool {
		return w.PID == f.PID && w.Active && strings.HasPrefix(w.Title, "target 0 ")
	})
	for i, is := range []string{"tiled", "floating"} {
		if is == "floating" {
			s.output(t, "swaymsg", fmt.Sprintf("[con_id=%d] floating enable", w.ID))
			w = s.windowThat(t, func(now desktop.WindowInfo) bool {
				return now.ID == w.ID && now.Frame.W != w.Frame.W && strings.HasPrefix(now.Title, fmt.Sprintf("target 1 at %d ", now.Frame.W))
			})
		}
		target := s.element(t, tree, f, "Target")
		again, err := tree.Read(t.Context(), snapshotOf(t, tree, f.PID).App, target.ID)
		if err != nil {
			t.Fatal(err)
		}
		if again.Frame != target.Frame {
			t.Errorf("in a %s window, the place read alone is %+v, expected %+v", is, again.Frame, target.Frame)
		}
		at := target.Frame.Center()
		if err := s.Display.Click(t.Context(), desktop.PersonSeat, w.ID, at, desktop.LeftButton, 1); err != nil {
			t.Fatal(err)
		}
		var n, dx, dy int
		var tag string
		w = s.windowThat(t, func(now desktop.WindowInfo) bool {
			_, err := fmt.Sscanf(now.Title, "target %d %d %d %s", &n, &dx, &dy, &tag)
			return now.ID == w.ID && err == nil && n == i+1
		})
		if tag != "BUTTON" || max(dx, -dx, dy, -dy) > 1 {
			t.Errorf("in a %s window, a click into the page arrived in %s, %d,%d pixels away", is, tag, dx, dy)
		}
	}
	s.output(t, "swaymsg", "output HEADLESS-1 scale 2")
	elements := snapshotOf(t, tree, f.PID).Elements
	if i := slices.IndexFunc(elements, func(e desktop.Element) bool { return !e.Frame.Empty() }); i >= 0 {
		t.Errorf("%s %q has the place %+v, expected none", elements[i].Role, elements[i].Name, elements[i].Frame)
	}
}

// snapshotOf reads the tree of a program that is there.
func snapshotOf(t *testing.T, tree *atspi.Bus, pid int) *desktop.Snapshot {
	t.Helper()
	apps, err := tree.Apps(t.Context())
	assert.NilError(t, err)
	i := slices.IndexFunc(apps, func(a desktop.App) bool { return a.PID == pid })
	assert.Assert(t, i >= 0, "the program is not listed")
	snapshot, err := tree.Snapshot(t.Context(), apps[i])
	assert.NilError(t, err)
	return snapshot
}

// TestWaylandXWayland: a window of XWayland is in the list of sway, and a click arrives at its place. Debian 12's tests have
// no XWayland.
func TestWaylandXWayland(t *testing.T) {
	if os.Getenv(linuxtest.CompositorEnv) != string(linuxtest.Sway) {
		return
	}
	s := newSessionWith(t, linuxtest.WaylandSetup{Sway: "xwayland enable\n"})
	// The server belongs to sway's user, and the fixtures to another.
	const open = `import ctypes; x = ctypes.CDLL("libX11.so.6"); x.XOpenDisplay.restype = ctypes.c_void_p; ` +
		`d = ctypes.c_void_p(x.XOpenDisplay(None)); x.XDisableAccessControl(d); x.XSync(d, 0)`
	script := filepath.Join(s.Home, "open.py")
	assert.NilError(t, os.WriteFile(script, []byte(open), 0o644))
	s.output(t, "swaymsg", "exec", `sh -c 'python3 "$HOME/open.py"; echo "$DISPLAY" > "$HOME/display"'`)
	until(t, func() bool { return strings.HasSuffix(s.read("display"), "\n") })
	native := s.Fixture(t, linuxtest.GTK4)
	s.Env = append(s.Env, "DISPLAY="+strings.TrimSpace(s.read("display")), "GDK_BACKEND=x11")
	old := s.Fixture(t, linuxtest.GTK3)
	tree := s.newTree(t)
	for _, f := range []*linuxtest.Fixture{native, old} {
		dx, dy := s.clickedAt(t, tree, f)
		assert.Check(t, max(dx, -dx, dy, -dy) <= 1, "a click into %s arrived %d,%d pixels away", f.Kind, dx, dy)
	}
	assert.Check(t, is.Contains(s.output(t, "swaymsg", "-t", "get_tree"), `"shell": "xwayland"`), "no window is one of XWayland")
}

// BenchmarkWayland times one request of each part.
func BenchmarkWayland(b *testing.B) {
	s := newSession(b)
	w := s.show(b, "foot", "sh", "-c", "stty -echo; : > typed; while read -r line; do echo \"$line\" >> typed; done")
	until(b, func() bool { _, err := os.Stat(filepath.Join(s.Home, "typed")); return err == nil })
	screen := desktop.Rect{W: linuxtest.ScreenWidth, H: linuxtest.ScreenHeight}
	b.Run("Windows", func(b *testing.B) {
		for b.Loop() {
			_, err := s.Windows(b.Context())
			assert.NilError(b, err)
		}
	})
	b.Run("Capture", func(b *testing.B) {
		for b.Loop() {
			_, err := s.Capture(b.Context(), screen)
			assert.NilError(b, err)
		}
	})
	const text = "zwanzig Zeichen äöüß"
	lines := 0
	arrived := func(b *testing.B) { // the text is in the program
		b.Helper()
		lines++
		until(b, func() bool { return strings.Count(s.read("typed"), text+"\n") == lines })
	}
	b.Run("Type", func(b *testing.B) {
		for b.Loop() {
			assert.NilError(b, s.Type(b.Context(), desktop.PersonSeat, w.ID, text+"\n"))
			arrived(b)
		}
	})
	b.Run("Clipboard", func(b *testing.B) {
		for b.Loop() {
			_, err := s.Set(b.Context(), desktop.Clip{Text: text})
			assert.NilError(b, err)
			clip, err := s.Get(b.Context())
			assert.NilError(b, err)
			assert.Equal(b, clip.Text, text)
		}
	})
}
