package wayland_test

import (
	"image/color"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/linux/actingsign"
	"github.com/gybob/aai-gateway/internal/platform/linux/wayland"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// signDot is the colour of the dot on the sign.
var signDot = color.RGBA{0xff, 0x4d, 0x4d, 0xff}

// TestSwaySign: the sign is on the screen while an agent acts, in its corner; it takes no click and no keyboard, and
// leaves afterwards.
func TestSwaySign(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	w := s.show(t, "foot", "sh", "-c", "stty raw -echo; printf '\\033[?1002h\\033[?1006h'; cat > mouse")
	n := actingsign.New(actingsign.Config{Sign: true, StopKey: desktop.Chord{Key: "escape"}, Linger: 50 * time.Millisecond, Compositor: s.OpenSign}, nil)
	t.Cleanup(n.Close)
	corner := desktop.Rect{X: linuxtest.ScreenWidth - 500, Y: linuxtest.ScreenHeight - 60, W: 500, H: 60}
	dots := func() (at []desktop.Point) {
		picture, err := s.Capture(t.Context(), corner)
		assert.NilError(t, err)
		for y := range corner.H {
			for x := range corner.W {
				if picture.RGBAAt(x, y) == signDot {
					at = append(at, desktop.Point{X: corner.X + x, Y: corner.Y + y})
				}
			}
		}
		return at
	}
	hide := n.Show("An agent acts in foot")
	until(t, func() bool { return len(dots()) > 0 })
	n.Show("Another label")()
	until(t, func() bool { return len(dots()) > 0 && s.PauseReason(t.Context()) == "" })
	assert.NilError(t, s.Display.Click(t.Context(), desktop.PersonSeat, w.ID, dots()[0], desktop.LeftButton, 1))
	until(t, func() bool { return s.read("mouse") != "" }) // the click passed through
	pid, err := s.FocusedPID(t.Context())
	assert.Check(t, is.Equal(pid, w.PID))
	assert.Check(t, err)
	hide()
	until(t, func() bool { return len(dots()) == 0 })
}

// TestNoSignWithoutCompositor: without a Wayland session OpenSign leaves the sign to the X server.
func TestNoSignWithoutCompositor(t *testing.T) {
	d := wayland.New(wayland.Config{Getenv: func(string) string { return "" }})
	screen, err := d.OpenSign(t.Context())
	assert.Assert(t, screen == nil, "it is %v, %v", screen, err)
	assert.NilError(t, err, screen)
}
