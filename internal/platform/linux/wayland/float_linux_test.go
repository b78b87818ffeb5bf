package wayland_test

import (
	"encoding/json"
	"image/color"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/linux/wayland"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// A node is a container of "swaymsg -t get_tree".
type node struct {
	Type           string
	PID            int
	Visible        bool
	Focused        bool
	FullscreenMode int `json:"fullscreen_mode"`
	Nodes          []node
	Floating       []node `json:"floating_nodes"`
	Rect           struct{ X, Y, Width, Height int }
	Title          struct{ Height int } `json:"deco_rect"`
}

// find returns the container of a process.
func (n node) find(pid int) (found node) {
	if n.PID == pid {
		return n
	}
	for _, below := range append(n.Nodes, n.Floating...) {
		if found = below.find(pid); found.PID == pid {
			return found
		}
	}
	return node{}
}

// nodeOf returns the container of a process, as sway tells it.
func (s *session) nodeOf(t *testing.T, pid int) node {
	t.Helper()
	var root node
	assert.NilError(t, json.Unmarshal([]byte(s.output(t, "swaymsg", "-t", "get_tree")), &root))
	return root.find(pid)
}

// float starts a question with the size, and shows it in front.
func (s *session) float(t *testing.T, width, height string) (node, desktop.Rect) {
	t.Helper()
	app := s.Launch(t, "zenity", "--text-info", "--width", width, "--height", height)
	seen := wayland.NewSession(s.Display, nil)
	assert.NilError(t, seen.FloatWindows(t.Context(), app.PID))
	n := s.nodeOf(t, app.PID)
	assert.Check(t, is.Equal(n.Type, "floating_con"))
	assert.Check(t, n.Focused, "it has not the keyboard")
	assert.Check(t, n.Visible, "it is not visible")
	r := desktop.Rect{X: n.Rect.X, Y: n.Rect.Y - n.Title.Height, W: n.Rect.Width, H: n.Rect.Height + n.Title.Height}
	screen := desktop.Rect{W: linuxtest.ScreenWidth, H: linuxtest.ScreenHeight}
	assert.Check(t, is.Equal(r.Intersect(screen), r), "%v is not wholly on the screen %v", r, screen)
	return n, r
}

// TestSwayFloat: a question does not stay in a narrow tile, and no larger than the screen.
func TestSwayFloat(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	var last desktop.WindowInfo
	for range 4 {
		last = s.show(t, "foot")
	}
	_, r := s.float(t, "860", "500")
	assert.Check(t, r.W >= 860, "it is %v, and cut", r)
	assert.Check(t, r.H >= 500, "it is %v, and cut", r)
	_, r = s.float(t, "3000", "1500")
	assert.Check(t, r.W >= linuxtest.ScreenWidth-10, "the large one is %v", r)
	assert.Check(t, r.H >= linuxtest.ScreenHeight-10, "the large one is %v", r)
	n := s.nodeOf(t, last.PID)
	assert.Check(t, is.Equal(n.Type, "con"), "the other window became a %q", n.Type)
}

// TestSwayFloatOverFullscreen: no pixel of a window on the full screen lies over the question.
func TestSwayFloatOverFullscreen(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	foot := s.show(t, "foot", "--override=colors.background=ff0000")
	s.output(t, "swaymsg", "fullscreen", "enable")
	red := color.RGBA{R: 255, A: 255}
	until(t, func() bool {
		shot, err := s.Capture(t.Context(), desktop.Rect{W: linuxtest.ScreenWidth, H: linuxtest.ScreenHeight})
		assert.NilError(t, err)
		return s.nodeOf(t, foot.PID).FullscreenMode == 1 && shot.RGBAAt(linuxtest.ScreenWidth-1, linuxtest.ScreenHeight-1) == red
	})
	_, r := s.float(t, "860", "500")
	shot, err := s.Capture(t.Context(), r)
	assert.NilError(t, err)
	for y := range r.H {
		for x := range r.W {
			assert.Assert(t, shot.RGBAAt(x, y) != red, "at %d,%d the other window covers it", x, y)
		}
	}
}
