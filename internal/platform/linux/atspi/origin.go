package atspi

import (
	"slices"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// origins matches an app's windows with those of the window system: by title and, where sizes are compared, by size. A
// window without a partner of its title matches the only one left of its size. Of windows that are alike none matches.
func origins(t *tree, windows []desktop.WindowInfo, pid int, habits *profile) map[ref]desktop.Point {
	var own []desktop.WindowInfo
	for _, w := range windows {
		if w.PID == pid {
			own = append(own, w)
		}
	}
	left := slices.Clone(t.root.children)
	single := len(own) == 1 && len(left) == 1
	found := map[ref]desktop.Point{}
	pair := func(fits func(w desktop.WindowInfo, n *node) bool) {
		pairs := pairsOf(own, left, func(w desktop.WindowInfo, n *node) bool {
			_, placed := habits.origin(w, n)
			return placed && fits(w, n)
		})
		for n, w := range pairs {
			found[n.ref], _ = habits.origin(w, n)
			left = slices.DeleteFunc(left, func(other *node) bool { return other == n })
			own = slices.DeleteFunc(own, func(other desktop.WindowInfo) bool { return other.ID == w.ID })
		}
	}
	pair(func(w desktop.WindowInfo, n *node) bool { return w.Title == n.name || single })
	if habits.comparesSizes {
		pair(func(desktop.WindowInfo, *node) bool { return true })
	}
	return found
}

// pairsOf returns the nodes and windows that fit each other and nothing else.
func pairsOf(windows []desktop.WindowInfo, nodes []*node, fits func(desktop.WindowInfo, *node) bool) map[*node]desktop.WindowInfo {
	pairs, taken := map[*node]desktop.WindowInfo{}, map[desktop.WindowID]int{}
	for _, n := range nodes {
		var match []desktop.WindowInfo
		for _, w := range windows {
			if fits(w, n) {
				match = append(match, w)
				taken[w.ID]++
			}
		}
		if len(match) == 1 {
			pairs[n] = match[0]
		}
	}
	for n, w := range pairs {
		if taken[w.ID] > 1 {
			delete(pairs, n)
		}
	}
	return pairs
}

// origin returns the point of the screen from which an app counts the frames in one of its windows. Where sizes are
// compared, the size of the app's own frame of the window says which rectangle the app counts from, and a frame of
// another size belongs to another window.
func (p *profile) origin(w desktop.WindowInfo, window *node) (desktop.Point, bool) {
	if !p.comparesSizes {
		return desktop.Point{X: w.Frame.X, Y: w.Frame.Y}, true
	}
	if p.scalesPages && !w.Unscaled {
		return desktop.Point{}, false
	}
	own, m := window.frame, p.decoration
	content := desktop.Rect{X: w.Frame.X + m.X, Y: w.Frame.Y + m.Y, W: w.Frame.W - m.W, H: w.Frame.H - m.H}
	const rounding = 1 // of sizes on a scaled screen
	for _, r := range []desktop.Rect{w.Frame, w.Surface, content} {
		wider, higher := r.W-own.W, r.H-own.H
		if !r.Empty() && max(wider, -wider, higher, -higher) <= rounding {
			return desktop.Point{X: r.X, Y: r.Y}, true
		}
	}
	if p.drawsShadow {
		inner := slices.Compact(window.framesOf(w.Frame, containerDepth))
		if len(inner) == 1 && !w.Frame.Empty() {
			return desktop.Point{X: w.Frame.X - inner[0].X, Y: w.Frame.Y - inner[0].Y}, true
		}
	}
	return desktop.Point{}, false
}

// containerDepth is the depth in a window at which a container has the size of the window without its shadow.
const containerDepth = 3

// framesOf returns the frames of the size of r, down to the depth.
func (n *node) framesOf(r desktop.Rect, depth int) (found []desktop.Rect) {
	for _, c := range n.children {
		if c.frame.W == r.W && c.frame.H == r.H {
			found = append(found, c.frame)
		}
		if depth > 1 {
			found = append(found, c.framesOf(r, depth-1)...)
		}
	}
	return found
}
