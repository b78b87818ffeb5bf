package gui_test

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// onBus returns the actionable elements on the accessibility bus, with their position on the
// screen.
func (w *realWorld) onBus(app string) []fact {
	w.Helper()
	pid, err := strconv.Atoi(app)
	assert.NilError(w, err)
	x := w.truthOf(pid)
	if x.veil == a11yVisible { // then positions are relative to the window
		windows, err := w.backend.Windows.Windows(w.Context())
		assert.NilError(w, err)
		for _, window := range windows {
			if window.PID == pid {
				for i := range x.facts {
					x.facts[i].frame.X += window.Frame.X
					x.facts[i].frame.Y += window.Frame.Y
				}
			}
		}
	}
	w.Logf("%d objects were looked at, %d have more than %d parts", x.seen, x.huge, a11yHuge)
	return withoutTwins(x.facts)
}

// withoutTwins removes the menus of LibreOffice's own menu bar, in its root pane, beside those with
// the same names in the drawn bar.
func withoutTwins(facts []fact) []fact {
	const bar, rootPane = ` > 34 ""`, " > 46 "
	return slices.DeleteFunc(slices.Clone(facts), func(f fact) bool {
		return strings.HasSuffix(f.path, bar) && strings.Contains(f.path, rootPane) && slices.ContainsFunc(facts, func(other fact) bool {
			return other.name == f.name && strings.HasSuffix(other.path, bar) && !strings.Contains(other.path, rootPane)
		})
	})
}

// inPage returns the visible elements of the fixture's page, from its own script: names without
// positions.
func inPage(t *testing.T, f *linuxtest.Fixture) []fact {
	t.Helper()
	window, list := f.WindowRect(t), rectOf(f.ControlRect(t, "Fruits"))
	places, _ := f.State(t)["where"].(map[string]any)
	var facts []fact
	for _, name := range slices.Sorted(maps.Keys(places)) {
		at := rectOf(f.ControlRect(t, name))
		switch {
		case name == "Canvas": // a picture, for the keyboard and assistive technology
		case strings.HasPrefix(name, "Fruit ") && at.Intersect(list).Empty():
		case at.Intersect(rectOf(window)).Empty():
		default:
			if strings.HasPrefix(name, "Twin") {
				name = "Twin"
			}
			facts = append(facts, fact{name: name, path: "the page"})
		}
	}
	return facts
}

func rectOf(r linuxtest.Rect) desktop.Rect {
	return desktop.Rect{X: r.X, Y: r.Y, W: r.Width, H: r.Height}
}

// spreadsheet opens LibreOffice and returns the process that has its window, which is not the
// started one.
func (w *realWorld) spreadsheet() (a *linuxtest.App, pid int) {
	w.Helper()
	a = w.Calc(w.T)
	return a, w.office(a)
}

// office returns the process with the windows of LibreOffice, after its start.
func (w *realWorld) office(a *linuxtest.App) (pid int) {
	w.Helper()
	w.eventually("LibreOffice shows a tree", func() bool {
		apps, _ := w.ok("ax_list_apps", nil).data["apps"].([]any)
		for _, row := range apps {
			each := whole(at(row, "pid"))
			if group, err := syscall.Getpgid(each); err == nil && group == a.PID && at(row, "hidden") == nil {
				pid = each
			}
		}
		return pid != 0
	})
	return pid
}
