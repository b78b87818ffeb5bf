//go:build linux

package x11

import (
	"encoding/json"
	"os/exec"
	"syscall"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// gdkMonitors returns the monitors according to GTK, which leaves out those that have no
// connector.
func gdkMonitors(t *testing.T, s *linuxtest.Session) (frames []desktop.Rect) {
	t.Helper()
	const program = `
import gi, json
gi.require_version("Gdk", "3.0")
from gi.repository import Gdk
d = Gdk.Display.get_default()
m = [d.get_monitor(i).get_geometry() for i in range(d.get_n_monitors())]
print(json.dumps([dict(X=g.x, Y=g.y, W=g.width, H=g.height) for g in m]))`
	cmd := exec.CommandContext(t.Context(), "/usr/bin/python3", "-c", program)
	cmd.Env = s.Env
	out, err := cmd.Output()
	assert.NilError(t, err)
	assert.NilError(t, json.Unmarshal(out, &frames))
	return frames
}

// TestSeveralMonitors checks that monitors are at GTK's positions, and that a capture of
// each is that part of the screen.
func TestSeveralMonitors(t *testing.T) {
	s := linuxtest.Start(t)
	d, conn, ctx := inside(t, s)
	// RandR's own monitors, which need no hardware: RRSetMonitor.
	set := func(name string, primary bool, x, y, w, h int, outputs ...uint32) *call {
		atom := internAtom(name)
		assert.NilError(t, conn.must(ctx, atom))
		const setMonitor = 43
		return command(conn.randr, setMonitor, conn.root, from(atom.reply, 8).u32(), primary, true, uint16(len(outputs)),
			int16(x), int16(y), uint16(w), uint16(h), uint32(w/4), uint32(h/4), outputs)
	}
	const getResources = 25 // RRGetScreenResourcesCurrent
	resources := query(conn.randr, getResources, conn.root)
	assert.NilError(t, conn.must(ctx, resources))
	r := from(resources.reply, 16)
	crtcs := int(r.u16())
	r.take(14 + 4*crtcs)
	output := r.u32() // the first monitor replaces it; otherwise it is one more
	want := map[string]desktop.Rect{"left": {W: 600, H: 1000}, "right": {X: 600, Y: 100, W: 1000, H: 900}}
	err := conn.must(ctx, set("left", false, 0, 0, 600, 1000, output), set("right", true, 600, 100, 1000, 900))
	assert.NilError(t, err)
	monitors, err := d.Monitors(ctx)
	assert.NilError(t, err)
	assert.Assert(t, is.Len(monitors, 2))
	assert.Equal(t, monitors[0].Name, "right")
	assert.Assert(t, monitors[0].Primary, "%+v", monitors)
	assert.Assert(t, !monitors[1].Primary, "%+v", monitors)
	frames := gdkMonitors(t, s)
	assert.Assert(t, len(frames) != 0, "GTK sees %v, and we %+v", frames, monitors)
	assert.Equal(t, frames[0], monitors[1].Frame, "%v %+v", frames, monitors)
	for _, m := range monitors {
		assert.Check(t, is.Equal(m.Frame, want[m.Name]), m.Name)
		picture, err := d.Capture(ctx, m.Frame)
		assert.NilError(t, err, m.Name)
		assert.Equal(t, picture.Bounds().Dx(), m.Frame.W, m.Name)
		assert.Equal(t, picture.Bounds().Dy(), m.Frame.H, m.Name)
	}
}

// quiet ends the window manager.
func quiet(t *testing.T, conn *server) {
	t.Helper()
	ctx := t.Context()
	check := getProperty(conn.root, conn.atoms["_NET_SUPPORTING_WM_CHECK"], 4, false)
	assert.NilError(t, conn.must(ctx, check))
	process, err := conn.processOf(ctx, check.property().first()&^conn.setup.idMask)
	assert.NilError(t, err, "%d", process)
	assert.Assert(t, process != 0, "process %d, %v", process, err)
	assert.NilError(t, syscall.Kill(process, syscall.SIGTERM))
	for managed := true; managed; {
		managed, err = conn.managed(ctx)
		assert.NilError(t, err)
	}
}

// TestOwnPointer checks that, without a window manager, the own pointer clicks and drags
// without moving the person's pointer and focus.
func TestOwnPointer(t *testing.T) {
	t.Parallel()
	for _, kind := range linuxtest.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			s := linuxtest.Start(t)
			d, conn, ctx := inside(t, s)
			f := s.Fixture(t, kind)
			windows, err := d.Windows(ctx)
			assert.NilError(t, err)
			assert.Assert(t, is.Len(windows, 1))
			w := windows[0].ID
			frame := windows[0].Frame
			mine := s.Launch(t, "xterm", "-geometry", "30x10+1000+700", "-e", "sleep", "infinity")
			f.WaitState(t, "focused", false)
			windows, err = d.Windows(ctx)
			assert.NilError(t, err)
			assert.Assert(t, is.Len(windows, 2))
			assert.Equal(t, windows[0].PID, mine.PID)
			assert.Assert(t, windows[0].Frame.Intersect(frame).Empty(), "%+v", windows)
			quiet(t, conn)
			assert.NilError(t, d.Activate(ctx, windows[0].ID))
			x, y := s.Pointer(t)
			canvas := f.ControlRect(t, "Canvas")
			at := desktop.Point{X: canvas.X + canvas.Width/2, Y: canvas.Y + canvas.Height/2}
			for _, c := range []struct {
				button desktop.MouseButton
				count  int
			}{{desktop.LeftButton, 1}, {desktop.RightButton, 1}, {desktop.LeftButton, 2}} {
				at.X += 15 // far enough not to be one more click of the last
				assert.NilError(t, d.Click(ctx, desktop.OwnSeat, w, at, c.button, c.count))
			}
			f.WaitFor(t, "the canvas is clicked", func(state map[string]any) bool {
				clicks, _ := state["clicks"].([]any)
				if len(clicks) != 4 {
					return false
				}
				second, last := clicks[1].(map[string]any), clicks[3].(map[string]any)
				return second["button"] == 3.0 && last["button"] == 1.0 && last["count"] == 2.0
			})
			assert.NilError(t, d.Drag(ctx, desktop.OwnSeat, w, at, desktop.Point{X: at.X - 30, Y: at.Y + 20}, 0))
			f.WaitFor(t, "the canvas is dragged", func(state map[string]any) bool {
				drags, _ := state["drags"].([]any)
				return len(drags) == 1
			})
			x2, y2 := s.Pointer(t)
			assert.Check(t, is.Equal(x, x2))
			assert.Check(t, is.Equal(y, y2))
			has, err := conn.hasKeyboard(ctx, xid(windows[0].ID))
			assert.NilError(t, err)
			assert.Assert(t, has, "the person's window has lost the keyboard: %v", err)
		})
	}
}
