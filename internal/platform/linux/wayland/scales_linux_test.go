package wayland_test

import (
	"fmt"
	"image/color"
	"os"
	"strconv"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

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
