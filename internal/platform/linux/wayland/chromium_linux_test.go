package wayland_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/linux/atspi"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// TestSwayChromium: a click arrives in the page of Chromium, whose frame contains a shadow: tiled and floating. On a
// scaled monitor, where the frames in a page are not in the pixels of the window, elements have no places.
func TestSwayChromium(t *testing.T) {
	if linuxtest.ChosenCompositor() != linuxtest.Sway {
		return // only sway's tests have Chromium
	}
	s := newSession(t)
	tree := s.newTree(t)
	file := s.Path("tmp", "target.html")
	const page = `<title>target 0</title><button style="margin: 150px; width: 80px; height: 40px; border: 0">Target</button><script>
n = 0; onresize = () => document.title = "target " + n + " at " + innerWidth
onclick = e => document.title = "target " + ++n + " " + (e.offsetX - 40) + " " + (e.offsetY - 20) + " " + e.target.tagName</script>`
	assert.NilError(t, os.WriteFile(file, []byte(page), 0o644))
	f := &linuxtest.Fixture{App: s.Browser(t, "file://"+file)}
	w := s.windowThat(t, func(w desktop.WindowInfo) bool {
		return w.PID == f.PID && w.Active && strings.HasPrefix(w.Title, "target 0 ")
	})
	for i, is := range []string{"tiled", "floating"} {
		if is == "floating" {
			s.output(t, "swaymsg", fmt.Sprintf("[con_id=%d] floating enable", w.ID))
			w = s.windowThat(t, func(now desktop.WindowInfo) bool {
				return now.ID == w.ID && now.Frame.W != w.Frame.W && strings.HasPrefix(now.Title, fmt.Sprintf("target 1 at %d ", now.Frame.W))
			})
		}
		target := s.element(t, tree, f, "Target")
		again, err := tree.Read(t.Context(), snapshotOf(t, tree, f.PID).App, target.ID)
		if err != nil {
			t.Fatal(err)
		}
		if again.Frame != target.Frame {
			t.Errorf("in a %s window, the place read alone is %+v, expected %+v", is, again.Frame, target.Frame)
		}
		at := target.Frame.Center()
		if err := s.Display.Click(t.Context(), desktop.PersonSeat, w.ID, at, desktop.LeftButton, 1); err != nil {
			t.Fatal(err)
		}
		var n, dx, dy int
		var tag string
		w = s.windowThat(t, func(now desktop.WindowInfo) bool {
			_, err := fmt.Sscanf(now.Title, "target %d %d %d %s", &n, &dx, &dy, &tag)
			return now.ID == w.ID && err == nil && n == i+1
		})
		if tag != "BUTTON" || max(dx, -dx, dy, -dy) > 1 {
			t.Errorf("in a %s window, a click into the page arrived in %s, %d,%d pixels away", is, tag, dx, dy)
		}
	}
	s.output(t, "swaymsg", "output HEADLESS-1 scale 2")
	elements := snapshotOf(t, tree, f.PID).Elements
	if i := slices.IndexFunc(elements, func(e desktop.Element) bool { return !e.Frame.Empty() }); i >= 0 {
		t.Errorf("%s %q has the place %+v, expected none", elements[i].Role, elements[i].Name, elements[i].Frame)
	}
}

// snapshotOf reads the tree of a program that is there.
func snapshotOf(t *testing.T, tree *atspi.Bus, pid int) *desktop.Snapshot {
	t.Helper()
	apps, err := tree.Apps(t.Context())
	assert.NilError(t, err)
	i := slices.IndexFunc(apps, func(a desktop.App) bool { return a.PID == pid })
	assert.Assert(t, i >= 0, "the program is not listed")
	snapshot, err := tree.Snapshot(t.Context(), apps[i])
	assert.NilError(t, err)
	return snapshot
}
