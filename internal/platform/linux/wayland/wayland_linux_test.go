package wayland_test

import (
	"fmt"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/linux/wayland"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// sample has letters of several scripts, in both cases, and more characters than a keyboard has keys.
const sample = `The quick brown fox jumps over the lazy dog. ABCDEFGHIJKLMNOPQRSTUVWXYZ 0123456789 äöü ÄÖÜ ß € 漢字 😀 yz;:_'"#~{}[]\|`

// TestWayland runs the tests of each part in one session.
func TestWayland(t *testing.T) {
	s := newSession(t)
	t.Run("clipboard", s.testClipboard)
	if s.refusesWindows(t) {
		return
	}
	t.Run("type", s.testType)
	t.Run("capture", s.testCapture)
	t.Run("click", s.testClick)
}

// testType: the letters arrive in a terminal and in a GTK program, by their own word.
func (s *session) testType(t *testing.T) {
	t.Run("foot", func(t *testing.T) {
		w := s.show(t, "foot", "sh", "-c", "cat > typed")
		until(t, func() bool { _, err := os.Stat(filepath.Join(s.Home, "typed")); return err == nil })
		assert.NilError(t, s.Type(t.Context(), desktop.PersonSeat, w.ID, sample+"\n"))
		until(t, func() bool { return strings.HasSuffix(s.read("typed"), "\n") })
		assert.Check(t, is.Equal(s.read("typed"), sample+"\n"))
	})
	t.Run("GTK", func(t *testing.T) {
		w := s.show(t, "sh", "-c", "exec zenity --entry --text=x > entered")
		assert.NilError(t, s.Type(t.Context(), desktop.PersonSeat, w.ID, sample))
		assert.NilError(t, s.Key(t.Context(), desktop.PersonSeat, w.ID, desktop.Chord{Key: "return"}))
		until(t, func() bool { return strings.HasSuffix(s.read("entered"), "\n") })
		assert.Check(t, is.Equal(s.read("entered"), sample+"\n"))
	})
}

// testClipboard: wl-copy and wl-paste agree with the gateway.
func (s *session) testClipboard(t *testing.T) {
	if _, err := s.Set(t.Context(), desktop.Clip{Text: "Grüße 漢 😀"}); err != nil {
		t.Fatal(err)
	}
	assert.Check(t, is.Equal(s.output(t, "wl-paste", "-n"), "Grüße 漢 😀"))
	s.Launch(t, "wl-copy", "-f", "von wl-copy ü")
	until(t, func() bool {
		clip, err := s.Get(t.Context())
		return err == nil && clip.Text == "von wl-copy ü"
	})
	if _, err := s.Set(t.Context(), desktop.Clip{}); err != nil {
		t.Fatal(err)
	}
	clip, err := s.Get(t.Context())
	assert.NilError(t, err)
	assert.Check(t, is.Equal(clip.Text, ""), "the emptied clipboard has %q", clip.Text)
}

// testCapture: the picture has the pixels of grim's.
func (s *session) testCapture(t *testing.T) {
	if c := linuxtest.ChosenCompositor(); c != linuxtest.Sway {
		_, err := s.Capture(t.Context(), desktop.Rect{W: 10, H: 10})
		e := aai.AsError(err)
		assert.Assert(t, e != nil, "a picture without screencopy and portal: %v", err)
		assert.Equal(t, e.Code, aai.AutomationNotSupported, err)
		return
	}
	s.show(t, "foot", "sh", "-c", "printf '\\033[41m\\033[2J\\033[42mgreen\\033[0m'; sleep 60")
	area := desktop.Rect{X: 10, Y: 20, W: 700, H: 500}
	until(t, func() bool {
		got, err := s.Capture(t.Context(), area)
		assert.NilError(t, err)
		s.output(t, "grim", "-g", "10,20 700x500", "shot.png")
		file, err := os.Open(filepath.Join(s.Home, "shot.png"))
		assert.NilError(t, err)
		defer func() { _ = file.Close() }()
		want, err := png.Decode(file)
		assert.NilError(t, err)
		colours := map[[3]uint32]bool{}
		for y := range area.H {
			for x := range area.W {
				r, g, b, _ := got.At(x, y).RGBA()
				wr, wg, wb, _ := want.At(x, y).RGBA()
				if r != wr || g != wg || b != wb {
					return false
				}
				colours[[3]uint32{r, g, b}] = true
			}
		}
		return len(colours) > 2
	})
}

// testClick: the click and the scroll arrive at their place, by the person's pointer alone.
func (s *session) testClick(t *testing.T) {
	// The terminal reports button and cell.
	w := s.show(t, "foot", "sh", "-c", "stty raw -echo; printf '\\033[?1002h\\033[?1006h'; cat > mouse")
	until(t, func() bool { _, err := os.Stat(filepath.Join(s.Home, "mouse")); return err == nil })
	at := desktop.Point{X: w.Frame.X + w.Frame.W/2, Y: w.Frame.Y + w.Frame.H/2}
	assert.NilError(t, s.Display.Click(t.Context(), desktop.PersonSeat, w.ID, at, desktop.LeftButton, 1))
	until(t, func() bool { return strings.Count(s.read("mouse"), "\x1b[<0;") == 2 }) // pressed and released
	assert.NilError(t, s.Scroll(t.Context(), desktop.PersonSeat, w.ID, at, 0, 2))
	const lines = 3 // of a notch, in foot
	until(t, func() bool { return strings.Count(s.read("mouse"), "\x1b[<65;") == 2*lines })
	assert.Check(t, s.Display.Click(t.Context(), desktop.OwnSeat, w.ID, at, desktop.LeftButton, 1) != nil, "a click in the background moved the person's pointer")
}

// clipServerEnv makes the test binary the process that serves a clip.
const clipServerEnv = "AAI_TEST_KEEPS_CLIP"

// TestClipKeeper is that process.
func TestClipKeeper(t *testing.T) {
	if os.Getenv(clipServerEnv) == "" {
		return
	}
	assert.NilError(t, wayland.New(wayland.Config{Getenv: os.Getenv}).ServeClip(t.Context(), os.Stdin, os.Stdout))
}

// keepClips makes another process serve the clips of the session, until the session ends.
func (s *session) keepClips(t *testing.T) {
	t.Helper()
	self, err := os.Executable()
	assert.NilError(t, err)
	s.Display = wayland.New(wayland.Config{Getenv: s.Getenv, InputLock: s.lock, ClipServer: func() *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestClipKeeper$")
		cmd.Env = append(s.Env, clipServerEnv+"=1")
		return cmd
	}})
	t.Cleanup(func() { _ = s.Close() })
}

// TestSwayText: a text arrives in Chromium, which takes no key with a character outside the first plane, and in a
// terminal, whatever the layout; the person's clip is there afterwards, also after the gateway has ended.
func TestSwayText(t *testing.T) {
	t.Parallel()
	const text, old = "The quick brown fox äöü ß € 漢字 😀 yz;:_'\"#{}[]\\|@", "the person's clip ü"
	s := newSession(t, "XKB_DEFAULT_LAYOUT=fr")
	s.keepClips(t)
	stays, err := s.Set(t.Context(), desktop.Clip{Text: old})
	assert.NilError(t, err)
	assert.Assert(t, is.Contains(stays, "a process of the gateway"))
	t.Run("foot", func(t *testing.T) {
		w := s.show(t, "foot", "sh", "-c", "cat > typed")
		until(t, func() bool { _, err := os.Stat(filepath.Join(s.Home, "typed")); return err == nil })
		assert.NilError(t, s.Type(t.Context(), desktop.PersonSeat, w.ID, text+"\n"))
		until(t, func() bool { return strings.HasSuffix(s.read("typed"), "\n") })
		assert.Check(t, is.Equal(s.read("typed"), text+"\n"))
	})
	t.Run("Chromium", func(t *testing.T) {
		f := s.Fixture(t, linuxtest.Chromium)
		w := s.window(t, f.Title, isActive)
		s.clickField(t, s.Display, f, w, "Full name")
		assert.NilError(t, s.Type(t.Context(), desktop.PersonSeat, w.ID, text))
		f.WaitState(t, "name", text)
	})
	assert.NilError(t, s.Close())
	assert.Check(t, is.Equal(s.output(t, "wl-paste", "-n"), old))
}

// TestWaylandPopups: an open menu lies over its window, and a click on its item arrives.
func TestWaylandPopups(t *testing.T) {
	if c := linuxtest.ChosenCompositor(); c != linuxtest.KWin && c != linuxtest.GNOMEShell {
		return // the others do not tell of menus
	}
	s := newSession(t)
	tree := s.newTree(t)
	f := s.Fixture(t, linuxtest.Qt6)
	w := s.window(t, f.Title, isThere)
	assert.NilError(t, s.Activate(t.Context(), w.ID))
	w = s.window(t, f.Title, isActive)
	file := s.element(t, tree, f, "File").Frame.Center()
	assert.NilError(t, s.Display.Click(t.Context(), desktop.PersonSeat, w.ID, file, desktop.LeftButton, 1))
	var item desktop.Point
	var menu desktop.WindowInfo
	until(t, func() bool {
		item = s.element(t, tree, f, "New").Frame.Center()
		over, err := s.WindowAt(t.Context(), item)
		menu = over
		return err == nil && over.PID == f.PID && over.ID != w.ID
	})
	assert.Check(t, s.Display.Click(t.Context(), desktop.PersonSeat, w.ID, item, desktop.LeftButton, 1) != nil, "a click for the window went into its menu")
	assert.NilError(t, s.Display.Click(t.Context(), desktop.PersonSeat, menu.ID, item, desktop.LeftButton, 1))
	f.WaitState(t, "menu", "New")
}

// TestWaylandScales: places, clicks and pictures have the same coordinates on scaled monitors, also left of the origin.
func TestWaylandScales(t *testing.T) {
	switch linuxtest.ChosenCompositor() {
	case linuxtest.Sway:
		testSwayScales(t)
	case linuxtest.KWin:
		// The virtual outputs of KWin 6.3 take "--scale" as a larger size, not as a scale.
		s := newSessionWith(t, linuxtest.WaylandSetup{Args: []string{"--output-count", "2"}})
		s.checkMonitors(t, 2, "1")
		s.checkPlaces(t, linuxtest.GTK4, linuxtest.Qt6)
	default: // these tests cannot set a scale there
	}
}

// checkPlaces clicks into a fixture of each kind.
func (s *session) checkPlaces(t *testing.T, kinds ...linuxtest.Kind) {
	t.Helper()
	tree := s.newTree(t)
	for _, kind := range kinds {
		dx, dy := s.clickedAt(t, tree, s.Fixture(t, kind))
		assert.Check(t, max(dx, -dx, dy, -dy) <= 1, "a click into %s arrived %d,%d pixels away", kind, dx, dy)
	}
}

// checkMonitors checks the number of the monitors, and the scale of each.
func (s *session) checkMonitors(t *testing.T, n int, scale string) {
	t.Helper()
	monitors, err := s.Monitors(t.Context())
	assert.NilError(t, err)
	assert.Check(t, is.Len(monitors, n), "%d monitors are listed, expected %d", len(monitors), n)
	want, _ := strconv.ParseFloat(scale, 64)
	for _, m := range monitors {
		assert.Check(t, !(m.Scale < want-0.01), "the monitor %+v has the scale %v, expected %v", m, m.Scale, want)
		assert.Check(t, !(m.Scale > want+0.01), "the monitor %+v has the scale %v, expected %v", m, m.Scale, want)
	}
}

// testSwayScales opens windows on two monitors, one of them left of the origin, with each scale.
func testSwayScales(t *testing.T) {
	s := newSessionWith(t, linuxtest.WaylandSetup{Env: []string{"WLR_HEADLESS_OUTPUTS=2"}})
	tree := s.newTree(t)
	gtk, qt := s.Fixture(t, linuxtest.GTK4), s.Fixture(t, linuxtest.Qt6)
	gtkWindow, qtWindow := s.window(t, gtk.Title, isThere), s.window(t, qt.Title, isThere)
	red := s.show(t, "foot", "-o", "colors.background=c00000", "sleep", "600")
	move := func(id desktop.WindowID, output string) {
		s.output(t, "swaymsg", fmt.Sprintf("[con_id=%d] move container to output %s", id, output))
	}
	move(gtkWindow.ID, "HEADLESS-2")
	move(red.ID, "HEADLESS-2")
	move(qtWindow.ID, "HEADLESS-1")
	scales := []string{"1.25", "2"}
	if os.Getenv(linuxtest.CompositorEnv) != "" {
		scales = []string{"1", "1.25", "1.5", "2"}
	}
	for _, scale := range scales {
		t.Run(scale, func(t *testing.T) {
			s.output(t, "swaymsg", "output HEADLESS-1 resolution 2000x1500 scale "+scale+" position 0 0")
			s.output(t, "swaymsg", "output HEADLESS-2 resolution 2800x1400 scale "+scale+" position -2800 100")
			s.checkMonitors(t, 2, scale)
			for _, f := range []*linuxtest.Fixture{gtk, qt} {
				dx, dy := s.clickedAt(t, tree, f)
				assert.Check(t, max(dx, -dx, dy, -dy) <= 1, "a click into %s arrived %d,%d pixels away", f.Kind, dx, dy)
			}
			s.checkRed(t, red)
		})
	}
}

// checkRed waits until the red window fills its frame in a picture, and ends there.
func (s *session) checkRed(t *testing.T, red desktop.WindowInfo) {
	t.Helper()
	const margin, border = 12, 6 // inside the frame, for the rest of a line; outside, for the compositor's border
	isRed := func(c color.Color) bool { r, g, b, _ := c.RGBA(); return r > 0x6000 && g < r/2 && b < r/2 }
	until(t, func() bool {
		windows, err := s.Windows(t.Context())
		assert.NilError(t, err)
		for _, w := range windows {
			if w.ID == red.ID {
				red = w
			}
		}
		f := red.Frame
		area := desktop.Rect{X: f.X - border, Y: f.Y - border, W: f.W + 2*border, H: f.H + 2*border}
		p, err := s.Capture(t.Context(), area)
		assert.NilError(t, err)
		last := border + margin
		return isRed(p.At(last, last)) && isRed(p.At(area.W-2*last, area.H-2*last)) && !isRed(p.At(1, area.H/2)) && !isRed(p.At(area.W/2, 1))
	})
}
