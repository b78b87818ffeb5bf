package atspi

import (
	"maps"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// TestOrigins: windows that are alike have no place, and the size says from where an app counts.
func TestOrigins(t *testing.T) {
	rect := func(x, y, w, h int) desktop.Rect { return desktop.Rect{X: x, Y: y, W: w, H: h} }
	listed := func(id int, title string, frame, surface desktop.Rect) desktop.WindowInfo {
		return desktop.WindowInfo{ID: desktop.WindowID(id), PID: 7, Title: title, Frame: frame, Surface: surface}
	}
	none, at := desktop.Rect{}, func(x, y int) *desktop.Point { return &desktop.Point{X: x, Y: y} }
	a, b := rect(100, 100, 300, 200), rect(500, 100, 300, 200)
	for name, c := range map[string]struct {
		windows []desktop.WindowInfo
		told    map[string]desktop.Rect // the sizes by accessibility, by name
		want    map[string]*desktop.Point
	}{
		"by title":                   {[]desktop.WindowInfo{listed(1, "A", a, none), listed(2, "B", b, none)}, map[string]desktop.Rect{"A": rect(0, 0, 300, 200), "B": rect(0, 0, 300, 200)}, map[string]*desktop.Point{"A": at(100, 100), "B": at(500, 100)}},
		"alike":                      {[]desktop.WindowInfo{listed(1, "A", a, none), listed(2, "A", b, none)}, map[string]desktop.Rect{"A": rect(0, 0, 300, 200)}, nil},
		"one window for two frames":  {[]desktop.WindowInfo{listed(1, "C", a, none)}, map[string]desktop.Rect{"A": rect(0, 0, 300, 200), "B": rect(0, 0, 300, 200)}, nil},
		"another title, by size":     {[]desktop.WindowInfo{listed(1, "A", a, none), listed(2, "Z", rect(5, 5, 50, 60), none)}, map[string]desktop.Rect{"A": rect(0, 0, 300, 200), "B": rect(0, 0, 50, 60)}, map[string]*desktop.Point{"A": at(100, 100), "B": at(5, 5)}},
		"another size":               {[]desktop.WindowInfo{listed(1, "A", a, none)}, map[string]desktop.Rect{"A": rect(0, 0, 310, 200)}, nil},
		"with the shadow":            {[]desktop.WindowInfo{listed(1, "A", a, rect(80, 90, 340, 240))}, map[string]desktop.Rect{"A": rect(0, 0, 340, 240)}, map[string]*desktop.Point{"A": at(80, 90)}},
		"with Qt's own decoration":   {[]desktop.WindowInfo{listed(1, "A", a, none)}, map[string]desktop.Rect{"A": rect(0, 0, 294, 167)}, map[string]*desktop.Point{"A": at(103, 130)}},
		"of another process":         {[]desktop.WindowInfo{{ID: 1, PID: 8, Title: "A", Frame: a}}, map[string]desktop.Rect{"A": rect(0, 0, 300, 200)}, nil},
		"without a size, as not yet": {[]desktop.WindowInfo{listed(1, "A", none, none)}, map[string]desktop.Rect{"A": none}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			tree, refs := newTree(ref{":1.1", "/"}), map[string]ref{}
			for title, frame := range c.told {
				refs[title] = ref{":1.1", "/" + title}
				tree.root.children = append(tree.root.children, &node{ref: refs[title], name: title, details: details{frame: frame}})
			}
			want := map[ref]desktop.Point{}
			for title, p := range c.want {
				want[refs[title]] = *p
			}
			habits := &profile{}
			habits.setQt()
			habits.comparesSizes = true
			got := origins(tree, c.windows, 7, habits)
			assert.Check(t, maps.Equal(got, want), "the places are %v, expected %v", got, want)
		})
	}
}

// TestOriginInShadow: the container that has the size of the window says how wide the shadow is, unless two places fit or
// the monitor has a scale.
func TestOriginInShadow(t *testing.T) {
	in := func(frames ...desktop.Rect) (w *node) {
		w = &node{details: details{frame: desktop.Rect{W: 332, H: 242}}}
		for _, f := range frames {
			w.children = append(w.children, &node{details: details{frame: w.frame}, children: []*node{{details: details{frame: f}}}})
		}
		return w
	}
	container, other := desktop.Rect{X: 16, Y: 10, W: 300, H: 200}, desktop.Rect{X: 0, Y: 0, W: 300, H: 200}
	for name, c := range map[string]struct {
		window   *node
		unscaled bool
		want     bool
	}{
		"one container":   {in(container), true, true},
		"the same twice":  {in(container, container), true, true},
		"two places":      {in(container, other), true, false},
		"no such size":    {in(desktop.Rect{X: 16, Y: 10, W: 301, H: 200}), true, false},
		"a scaled screen": {in(container), false, false},
	} {
		t.Run(name, func(t *testing.T) {
			habits := &profile{}
			habits.setChromium()
			habits.comparesSizes = true
			at, placed := habits.origin(desktop.WindowInfo{Frame: desktop.Rect{X: 100, Y: 50, W: 300, H: 200}, Unscaled: c.unscaled}, c.window)
			assert.Check(t, is.Equal(placed, c.want))
			want := (desktop.Point{X: 84, Y: 40})
			assert.Check(t, !placed || at == want, "the place is %v, expected %v", at, want)
		})
	}
}
