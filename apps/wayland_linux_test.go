package apps

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// startSession starts a desktop of X11, or of the Wayland compositor that AAI_TEST_COMPOSITOR names. With sway the tests
// must not run as root: sway refuses root, and the gateway a home folder of another user.
func startSession(t *testing.T) *linuxtest.Session {
	t.Helper()
	if os.Getenv(linuxtest.CompositorEnv) != "" {
		return linuxtest.StartWayland(t, linuxtest.ChosenCompositor())
	}
	return linuxtest.StartAccessible(t)
}

// isWayland reports whether the desktop is one of Wayland.
func (s *stage) isWayland() bool { return s.Compositor() != nil }

// swayNode is a container in the answer of swaymsg.
type swayNode struct {
	ID       int64      `json:"id"`
	PID      int        `json:"pid"`
	Name     string     `json:"name"`
	Visible  bool       `json:"visible"`
	Nodes    []swayNode `json:"nodes"`
	Floating []swayNode `json:"floating_nodes"`
}

// titles returns the titles of the visible windows in and below the container.
func (n swayNode) titles() (titles []string) {
	if n.PID != 0 && n.Visible && n.Name != "" {
		titles = append(titles, n.Name)
	}
	for _, below := range [][]swayNode{n.Nodes, n.Floating} {
		for _, c := range below {
			titles = append(titles, c.titles()...)
		}
	}
	return titles
}

// swayWindows returns the titles of the visible windows, by swaymsg.
func (s *stage) swayWindows() []string {
	s.Helper()
	var root swayNode
	assert.NilError(s, json.Unmarshal([]byte(s.run("swaymsg", "-t", "get_tree")), &root))
	return root.titles()
}

// escapes presses Escape in the window with the title, as a user would.
func (s *stage) escapes(title string) {
	s.Helper()
	s.run("swaymsg", `[title="^`+strings.ReplaceAll(title, `"`, ".")+`$"] focus`)
	s.run("wtype", "-k", "Escape")
}
