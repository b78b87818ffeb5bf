package wayland_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

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
