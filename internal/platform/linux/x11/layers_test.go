//go:build linux

package x11_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// TestLayers checks that a window with its frame is a layer of its program, that windows
// above come after it, and that a possibly transparent one hides nothing.
func TestLayers(t *testing.T) {
	s := linuxtest.Start(t)
	d := open(t, s)
	f := s.Fixture(t, linuxtest.GTK3)
	w := window(t, d, f)
	layerOf := func(pid int) (int, desktop.Layer) {
		t.Helper()
		for until := time.Now().Add(patience); ; {
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
	tool(t, s, nil, "xprop", "-id", strings.Fields(id)[0], "-f", "_NET_WM_WINDOW_OPACITY", "32c", "-set", "_NET_WM_WINDOW_OPACITY", "0x7fffffff")
	_, layer = layerOf(f.PID)
	assert.Check(t, is.Len(layer.OpaqueRegion, 0), "it can be seen through, and hides %v", layer.OpaqueRegion)
}
