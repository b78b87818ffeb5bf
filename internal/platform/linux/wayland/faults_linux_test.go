package wayland_test

import (
	"context"
	"encoding/json"
	"image/color"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/linux/actingsign"
	"github.com/gybob/aai-gateway/internal/platform/linux/wayland"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// long takes some seconds to type.
var long = strings.Repeat("a long text ", 2000)

// typing types a long text into a terminal that discards it, and returns its result after it has begun.
func (s *session) typing(ctx context.Context, t *testing.T) <-chan error {
	t.Helper()
	w := s.show(t, "foot", "sh", "-c", "stty raw -echo; cat > typed")
	until(t, func() bool {
		assert.NilError(t, s.Type(t.Context(), desktop.PersonSeat, w.ID, "a"))
		return s.read("typed") != ""
	})
	done := make(chan error, 1)
	go func() { done <- s.Type(ctx, desktop.PersonSeat, w.ID, long) }()
	until(t, func() bool { return len(s.read("typed")) > 20 })
	return done
}

// fails checks that an act ended with one of the codes, and without its success.
func fails(t *testing.T, err error, codes ...aai.Code) {
	t.Helper()
	if err == nil {
		t.Error("it succeeded")
		return
	}
	e := aai.AsError(err)
	for _, code := range codes {
		if e.Code == code {
			return
		}
	}
	t.Errorf("%v; want one of %q", e, codes)
}

// TestWaylandCompositorEnds: acts fail after the compositor has been killed in the middle of one, and work after its restart.
func TestWaylandCompositorEnds(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	if s.refusesWindows(t) {
		return
	}
	done := s.typing(t.Context(), t)
	s.Compositor().Kill(t)
	fails(t, <-done, aai.AutomationFailed)
	_, err := s.Windows(t.Context())
	fails(t, err, aai.AutomationFailed)
	_, err = s.Get(t.Context())
	fails(t, err, aai.AutomationFailed)
	s.RestartCompositor(t)
	w := s.show(t, "foot", "sh", "-c", "cat > again")
	until(t, func() bool { return s.Type(t.Context(), desktop.PersonSeat, w.ID, "again\n") == nil })
	until(t, func() bool { return s.read("again") != "" })
	assert.Check(t, is.Equal(s.read("again"), "again\n"))
}

// TestWaylandCompositorHangs: acts end at their deadline while the compositor is stopped, and work when it goes on.
func TestWaylandCompositorHangs(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	if s.refusesWindows(t) {
		return
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := s.typing(ctx, t)
	s.Compositor().Suspend(t)
	cancel()
	fails(t, <-done, aai.AutomationFailed, aai.Timeout)
	for name, act := range map[string]func(context.Context) error{
		"windows":   func(ctx context.Context) error { _, err := s.Windows(ctx); return err },
		"picture":   func(ctx context.Context) error { _, err := s.Capture(ctx, desktop.Rect{W: 10, H: 10}); return err },
		"read clip": func(ctx context.Context) error { _, err := s.Get(ctx); return err },
		"set clip":  func(ctx context.Context) error { _, err := s.Set(ctx, desktop.Clip{Text: "x"}); return err },
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		t.Run(name, func(t *testing.T) { fails(t, act(ctx), aai.Timeout) })
		cancel()
	}
	s.Compositor().Continue(t)
	until(t, func() bool { _, err := s.Windows(t.Context()); return err == nil })
}

// TestWaylandClipOwnerHangs: a program that does not give its clip ends the read, not the gateway.
func TestWaylandClipOwnerHangs(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	owner := s.Launch(t, "wl-copy", "-f", "theirs")
	until(t, func() bool { clip, err := s.Get(t.Context()); return err == nil && clip.Text == "theirs" })
	owner.Suspend(t)
	_, err := s.Get(t.Context())
	fails(t, err, aai.Timeout)
	_, err = s.Set(t.Context(), desktop.Clip{Text: strings.Repeat("ours", 1<<18)})
	assert.NilError(t, err)
	reader := s.Launch(t, "sh", "-c", "wl-paste | (sleep 600; cat)") // it never reads the rest
	until(t, func() bool { return reader.PID != 0 })
	got := s.output(t, "wl-paste", "-n")
	assert.Check(t, is.Equal(len(got), 4<<18), "wl-paste has %d bytes", len(got))
}

// TestWaylandUnplugged: without a monitor acts pause and pictures fail, and both work when it is back. Sway 1.7 cannot
// disable a headless monitor.
func TestWaylandUnplugged(t *testing.T) {
	if os.Getenv(linuxtest.CompositorEnv) != string(linuxtest.Sway) {
		return
	}
	s := newSession(t)
	w := s.show(t, "foot", "sh", "-c", "cat > typed")
	s.output(t, "swaymsg", "output", "HEADLESS-1", "disable")
	until(t, func() bool { return s.PauseReason(t.Context()) == "no monitor is connected" })
	_, err := s.Capture(t.Context(), desktop.Rect{W: 10, H: 10})
	fails(t, err, aai.AutomationNotSupported, aai.InvalidParams)
	at := desktop.Point{X: w.Frame.X + 5, Y: w.Frame.Y + 5}
	fails(t, s.Display.Click(t.Context(), desktop.PersonSeat, w.ID, at, desktop.LeftButton, 1), aai.AutomationFailed, aai.AutomationNotSupported)
	s.output(t, "swaymsg", "output", "HEADLESS-1", "enable")
	until(t, func() bool { return s.PauseReason(t.Context()) == "" })
	assert.NilError(t, s.Type(t.Context(), desktop.PersonSeat, w.ID, "after\n"))
	until(t, func() bool { return s.read("typed") == "after\n" })
}

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

// TestSwayLock: while swaylock locks the screen, no key and no click goes into it, and afterwards they work.
func TestSwayLock(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	w := s.show(t, "foot", "sh", "-c", "cat > typed")
	until(t, func() bool { _, err := os.Stat(filepath.Join(s.Home, "typed")); return err == nil })
	assert.NilError(t, s.Type(t.Context(), desktop.PersonSeat, w.ID, "before "))
	assert.Equal(t, s.PauseReason(t.Context()), "")
	lock := s.Launch(t, "swaylock", "--color", "112233")
	until(t, func() bool { return s.PauseReason(t.Context()) != "" })
	s.lock.SetPauseReason(s.PauseReason)
	center := desktop.Point{X: w.Frame.X + w.Frame.W/2, Y: w.Frame.Y + w.Frame.H/2}
	for name, act := range map[string]func(context.Context) error{
		"type": func(ctx context.Context) error { return s.Type(ctx, desktop.PersonSeat, w.ID, "secret") },
		"key":  func(ctx context.Context) error { return s.Key(ctx, desktop.PersonSeat, w.ID, desktop.Chord{Key: "a"}) },
		"picture": func(ctx context.Context) error {
			_, err := s.CaptureWindow(ctx, w.ID)
			return err
		},
		"click": func(ctx context.Context) error {
			return s.Display.Click(ctx, desktop.PersonSeat, w.ID, center, desktop.LeftButton, 1)
		},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		e := aai.AsError(act(ctx))
		assert.Assert(t, e != nil, "%s into the lock: %v", name, e)
		assert.Equal(t, e.Delivery, aai.NotDelivered, "%s %v", name, e)
		cancel()
	}
	pid, err := s.FocusedPID(t.Context())
	assert.Check(t, is.Equal(pid, 0))
	assert.Check(t, err)
	if err := syscall.Kill(lock.PID, syscall.SIGUSR1); err != nil { // it unlocks
		t.Fatal(err)
	}
	until(t, func() bool { return s.PauseReason(t.Context()) == "" })
	assert.NilError(t, s.Type(t.Context(), desktop.PersonSeat, w.ID, "after\n"))
	until(t, func() bool { return strings.HasSuffix(s.read("typed"), "\n") })
	assert.Check(t, is.Equal(s.read("typed"), "before after\n"))
}

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
