//go:build linux

package x11_test

import (
	"slices"
	"strings"
	"testing"
	"time"

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
			if time.Now().After(until) {
				t.Fatalf("no layer of process %d: %+v, %v", pid, layers, err)
			}
		}
	}
	first, layer := layerOf(f.PID)
	if layer.Frame.Intersect(w.Frame) != w.Frame || len(layer.OpaqueRegion) == 0 || layer.OpaqueRegion[0].Intersect(w.Frame).Empty() {
		t.Errorf("the window at %v is the layer %+v", w.Frame, layer)
	}
	if layer.Unmanaged {
		t.Error("the window manager knows it")
	}
	cover := s.Cover(t, f)
	if second, above := layerOf(cover.PID); second <= first || above.Frame.Intersect(w.Frame).Empty() {
		t.Errorf("what covers it is layer %d, it is layer %d", second, first)
	}
	id := strings.TrimSpace(string(tool(t, s, nil, "xdotool", "search", "--name", f.Title)))
	tool(t, s, nil, "xprop", "-id", strings.Fields(id)[0], "-f", "_NET_WM_WINDOW_OPACITY", "32c", "-set", "_NET_WM_WINDOW_OPACITY", "0x7fffffff")
	if _, layer = layerOf(f.PID); len(layer.OpaqueRegion) != 0 {
		t.Errorf("it can be seen through, and hides %v", layer.OpaqueRegion)
	}
}
