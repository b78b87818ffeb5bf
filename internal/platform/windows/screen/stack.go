package screen

import "github.com/gybob/aai-gateway/internal/desktop"

// A layer is a window that shows, whether it is listed or not.
type layer struct {
	frame desktop.Rect
	solid bool // it hides the windows below
}

// covered returns the fraction of the frame that is off the monitors or under the layers above it.
func covered(frame desktop.Rect, monitors []desktop.Rect, above []layer) float64 {
	if frame.Empty() {
		return 1
	}
	seen := 0
	for _, m := range monitors {
		parts := []desktop.Rect{frame.Intersect(m)}
		for _, l := range above {
			if l.solid {
				parts = desktop.Subtract(parts, l.frame)
			}
		}
		for _, p := range parts {
			if !p.Empty() {
				seen += p.W * p.H
			}
		}
	}
	return max(0, 1-float64(seen)/float64(frame.W*frame.H))
}

// A windowTraits holds what decides whether a window is one that a person would name.
type windowTraits struct {
	visible, cloaked, minimized                          bool
	caption, tool, app, noActivate, transparent, isChild bool
	class                                                string
	frame                                                desktop.Rect
}

// isListed reports whether the window is one of a program, and no menu, tooltip, panel or part of the desktop.
func (t windowTraits) isListed() bool {
	switch {
	case !t.visible || t.cloaked || t.isChild || !t.minimized && t.frame.Empty():
		return false
	case t.class == "Progman" || t.class == "WorkerW" || t.class == "Shell_TrayWnd" || t.class == "Shell_SecondaryTrayWnd" || t.class == "#32768":
		return false // the desktop, the taskbars, and menus
	case t.app:
		return true
	case t.tool || t.noActivate:
		return t.caption && !t.transparent // a palette
	}
	return !t.transparent
}
