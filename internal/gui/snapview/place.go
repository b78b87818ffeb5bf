package snapview

import (
	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
)

// IsPointIndependent reports whether an accessibility action equals a click at any point of the
// element. In a drawing each point differs.
func IsPointIndependent(e *desktop.Element) bool {
	return len(e.Actions) > 0 && e.Role != desktop.Canvas && e.Role != desktop.Image
}

// Scrollbar returns the scroll bar of the nearest container of the element, or any scroll bar for
// -1. It returns -1 if there is none.
func (s *RefSnapshot) Scrollbar(i int, vertical bool) int {
	if i < 0 {
		return s.barWithin(0, len(s.Snapshot.Elements), vertical)
	}
	for p := i; p >= 0; p = s.Snapshot.Elements[p].Parent {
		if bar := s.barWithin(p, s.Snapshot.Elements[p].End, vertical); bar >= 0 {
			return bar
		}
	}
	return -1
}

func (s *RefSnapshot) barWithin(begin, end int, vertical bool) int {
	for i := begin; i < end; i++ {
		e := &s.Snapshot.Elements[i]
		if e.Role == desktop.Scrollbar && e.States.Has(desktop.Vertical) == vertical && e.Min < e.Max && s.Snapshot.IsVisible(i) {
			return i
		}
	}
	return -1
}

// ScrollDistance returns how far a hidden element is below the visible part of its list, or above if negative. The
// distance is in pixels (at most a page) and in rows. If the distance is unknown, list is -1 and the others are 0.
func (s *RefSnapshot) ScrollDistance(i int) (list, pixels, rows int) {
	row := i
	list = s.Snapshot.Elements[row].Parent
	for list >= 0 && !s.Snapshot.IsVisible(list) {
		row, list = list, s.Snapshot.Elements[list].Parent
	}
	if list < 0 || !isRowRole(s.Snapshot.Elements[row].Role) {
		return -1, 0, 0
	}
	first, last, at := -1, -1, -1
	all := s.Snapshot.Children(list)
	for n, c := range all {
		if c == row {
			at = n
		}
		if s.Snapshot.IsVisible(c) {
			last = n
			if first < 0 {
				first = n
			}
		}
	}
	if first < 0 {
		return -1, 0, 0
	}
	top, bottom := s.Snapshot.Elements[all[first]].Frame, s.Snapshot.Elements[all[last]].Frame
	page := bottom.Y + bottom.H - top.Y
	pitch := max(1, page/(last-first+1))
	switch {
	case at < first:
		return list, -min((first-at)*pitch, max(pitch, page*4/5)), at - first
	case at > last:
		return list, min((at-last)*pitch, max(pitch, page*4/5)), at - last
	}
	return -1, 0, 0
}

// isRowRole reports whether elements of the role are rows of lists.
func isRowRole(role desktop.Role) bool {
	switch role {
	case desktop.Option, desktop.ListItem, desktop.TreeItem, desktop.Row, desktop.Cell:
		return true
	}
	return false
}

// ClickPoint returns the center of the visible part of the element, in its window or in the menu or list over it. It
// fails if no part is in view.
func (s *RefSnapshot) ClickPoint(i int, w desktop.WindowInfo) (desktop.Point, error) {
	seen, over := s.Snapshot.Elements[i].Frame, false
	for p := s.Snapshot.Elements[i].Parent; p >= 0 && !over && !seen.Empty(); p = s.Snapshot.Elements[p].Parent {
		parent := &s.Snapshot.Elements[p]
		over = isPopupRole(parent.Role)
		if !parent.Frame.Empty() && parent.Role != desktop.Combobox && parent.Role != desktop.MenuItem {
			seen = seen.Intersect(parent.Frame)
		}
	}
	if !over {
		seen = seen.Intersect(w.Frame)
	}
	if seen.Empty() {
		return desktop.Point{}, guierr.Failed(aai.NotDelivered, "%s is not in view, or the program does not say where it is; ax_scroll brings it into view", s.Name(i))
	}
	return seen.Center(), nil
}

// isPopupRole reports whether the children of elements with the role are drawn over the window.
func isPopupRole(role desktop.Role) bool {
	return role == desktop.Menu || role == desktop.MenuItem || role == desktop.Combobox
}
