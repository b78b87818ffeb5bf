//go:build linux

package x11

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

func testCoveredInPart(t *testing.T, s *linuxtest.Session, f *linuxtest.Fixture) {
	d := open(t, s)
	term := s.Launch(t, "xterm", "-b", "0", "-e", "sleep", "infinity")
	defer term.Kill(t)
	f.WaitState(t, "focused", false)
	// Half of the fixture's height is covered, as far as the screen goes.
	place := f.WindowRect(t)
	id := strings.TrimSpace(string(tool(t, s, nil, "xdotool", "search", "--sync", "--class", "XTerm")))
	tool(t, s, nil, "xdotool", "windowsize", "--sync", id, "1600", "1000")
	tool(t, s, nil, "xdotool", "windowmove", id, "0", strconv.Itoa(place.Y+place.Height/2))
	fixture := window(t, d, f).ID
	for {
		windows, err := d.Windows(soon(t))
		assert.NilError(t, err)
		w := windows[slices.IndexFunc(windows, func(w desktop.WindowInfo) bool { return w.ID == fixture })]
		over := windows[0].Frame.Intersect(w.Frame)
		if over.Empty() || over.H == w.Frame.H {
			continue // the window manager has not moved it yet
		}
		title := w.Frame.Y + w.Frame.H - over.Y - over.H // the frame above the terminal covers too
		least, most := float64(over.H-title)/float64(w.Frame.H), float64(over.H+60)/float64(w.Frame.H)
		assert.Check(t, !(w.Covered < least), "%v of it is covered, want %v to %v", w.Covered, least, most)
		assert.Check(t, !(w.Covered > most), "%v of it is covered, want %v to %v", w.Covered, least, most)
		return
	}
}

func testNowhere(t *testing.T, s *linuxtest.Session, _ *linuxtest.Fixture) {
	d := open(t, s)
	_, err := d.WindowAt(soon(t), desktop.Point{X: 1599, Y: 999})
	fails(t, err, aai.AutomationFailed, aai.NotDelivered, "no window at 1599,999")
	_, err = d.WindowAt(soon(t), desktop.Point{X: 1600, Y: 5})
	fails(t, err, aai.InvalidParams, aai.NotDelivered, "1600 by 1000")
	fails(t, d.Activate(soon(t), 0), aai.InvalidParams, aai.NotDelivered)
	fails(t, d.Activate(soon(t), 0x1fffffff), aai.AutomationFailed, aai.NotDelivered, "not there any more")
}

// testLayers checks that a window with its frame is a layer of its program, that windows
// above come after it, and that a possibly transparent one hides nothing.
func testLayers(t *testing.T, s *linuxtest.Session, f *linuxtest.Fixture) {
	d := open(t, s)
	w := window(t, d, f)
	layerOf := func(pid int) (int, desktop.Layer) {
		t.Helper()
		for until := time.Now().Add(testPatience); ; {
			layers, err := d.Layers(soon(t))
			if i := slices.IndexFunc(layers, func(l desktop.Layer) bool { return l.PID == pid }); i >= 0 {
				return i, layers[i]
			}
			assert.Assert(t, !time.Now().After(until), "no layer of process %d: %+v, %v", pid, layers, err)
		}
	}
	first, layer := layerOf(f.PID)
	assert.Equal(t, layer.Frame.Intersect(w.Frame), w.Frame, "%+v", layer)
	assert.Assert(t, len(layer.OpaqueRegion) != 0, "the window at %v is the layer %+v", w.Frame, layer)
	assert.Assert(t, !layer.OpaqueRegion[0].Intersect(w.Frame).Empty(), "the window at %v is the layer %+v", w.Frame, layer)
	assert.Check(t, !layer.Unmanaged, "the window manager knows it")
	cover := s.Cover(t, f)
	second, above := layerOf(cover.PID)
	assert.Check(t, second > first, "what covers it is layer %d, it is layer %d", second, first)
	assert.Check(t, !above.Frame.Intersect(w.Frame).Empty(), "what covers it is layer %d, it is layer %d", second, first)
	id := strings.TrimSpace(string(tool(t, s, nil, "xdotool", "search", "--name", f.Title)))
	defer tool(t, s, nil, "xprop", "-id", strings.Fields(id)[0], "-remove", "_NET_WM_WINDOW_OPACITY")
	tool(t, s, nil, "xprop", "-id", strings.Fields(id)[0], "-f", "_NET_WM_WINDOW_OPACITY", "32c", "-set", "_NET_WM_WINDOW_OPACITY", "0x7fffffff")
	_, layer = layerOf(f.PID)
	assert.Check(t, is.Len(layer.OpaqueRegion, 0), "it can be seen through, and hides %v", layer.OpaqueRegion)
}

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

// testScale checks that the scale is that of the X resources.
func testScale(t *testing.T, s *linuxtest.Session) {
	d, _, ctx := inside(t, s)
	monitors, err := d.Monitors(ctx)
	assert.NilError(t, err)
	assert.Equal(t, monitors[0].Scale, 1.0)
	tool(t, s, nil, "xprop", "-root", "-f", "RESOURCE_MANAGER", "8s", "-set", "RESOURCE_MANAGER", "Xft.hinting:\t1\nXft.dpi:\t144\n")
	monitors, err = d.Monitors(ctx)
	assert.NilError(t, err)
	assert.Equal(t, monitors[0].Scale, 1.5)
}

// testSeveralMonitors checks that monitors are at GTK's positions, and that a capture of
// each is that part of the screen.
func testSeveralMonitors(t *testing.T, s *linuxtest.Session) {
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
	assert.NilError(t, syscall.Kill(windowManager(ctx, t, conn), syscall.SIGTERM))
	for managed := true; managed; {
		var err error
		managed, err = conn.managed(ctx)
		assert.NilError(t, err)
	}
}
