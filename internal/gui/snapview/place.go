package snapview

import (
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
)

// An open menu, or the open list of a combo box, grabs the keyboard and pointer of the person. Typed keys go there
// although no window has lost the focus. So calls in the background do not open menus or lists: their items can be
// chosen while they are closed.

// InClosedMenu reports whether the element is an item of a closed menu in a visible menu bar.
func (s *RefSnapshot) InClosedMenu(i int) bool {
	if !s.Snapshot.Elements[i].Role.IsMenuItem() || s.Snapshot.IsVisible(i) || len(s.closedChildren(i)) > 0 {
		return false
	}
	for p := s.Snapshot.Elements[i].Parent; p >= 0; p = s.Snapshot.Elements[p].Parent {
		switch role := s.Snapshot.Elements[p].Role; {
		case role == desktop.Menubar:
			return s.Snapshot.IsVisible(p)
		case role != desktop.Menu && !role.IsMenuItem():
			return false
		}
	}
	return false
}

// closedChildren returns the items of an element's closed menu or list.
func (s *RefSnapshot) closedChildren(i int) []int {
	e := &s.Snapshot.Elements[i]
	var is func(desktop.Role) bool
	switch {
	case e.Role == desktop.Menu || e.Role.IsMenuItem():
		is = desktop.Role.IsMenuItem
	case e.Role == desktop.Combobox:
		is = func(r desktop.Role) bool { return r == desktop.Option || r == desktop.ListItem || r.IsMenuItem() }
	default:
		return nil
	}
	var items []int
	for j := i + 1; j < e.End; j++ {
		if !is(s.Snapshot.Elements[j].Role) {
			continue
		}
		if s.Snapshot.IsVisible(j) {
			return nil // it is open
		}
		items = append(items, j)
	}
	return items
}

// CheckOpen returns an error if a press on the element would open a menu or list, which need not be open.
func (s *RefSnapshot) CheckOpen(i int) error {
	items := s.closedChildren(i)
	if len(items) == 0 {
		return nil
	}
	what, instead := "menu", "ax_click one of its items: the menu need not be open."
	if s.Snapshot.Elements[i].Role == desktop.Combobox {
		what, instead = "list", "ax_set_value chooses one."
	}
	e := aai.Errorf(aai.AutomationNotSupported, "%s opens a %s, which would take the person's keyboard and pointer until it is closed", s.Name(i), what)
	e.Delivery = aai.NotDelivered
	e.Candidates = s.Candidates(items)
	e.Hint = instead + ` With mode "focus" it is opened all the same.`
	return e
}

// isInHiddenMenuBar reports whether the element is in an invisible menu bar of a window that also
// has a visible one. GTK draws LibreOffice's menus, but LibreOffice also reports its own menu bar
// as showing, with no height.
func (s *RefSnapshot) isInHiddenMenuBar(i int) bool {
	for p := s.Snapshot.Elements[i].Parent; p >= 0; p = s.Snapshot.Elements[p].Parent {
		if s.Snapshot.Elements[p].Role == desktop.Menubar {
			return s.Snapshot.Elements[p].Frame.Empty() && s.hasMenuBar(s.Snapshot.WindowOf(p))
		}
	}
	return false
}

// hasMenuBar reports whether the window has a visible menu bar.
func (s *RefSnapshot) hasMenuBar(window int) bool {
	for j := window; j < s.Snapshot.Elements[window].End; j++ {
		if e := &s.Snapshot.Elements[j]; e.Role == desktop.Menubar && !e.Frame.Empty() && s.Snapshot.IsVisible(j) {
			return true
		}
	}
	return false
}

// UnloadedMenusHint returns a hint with the closed menus that report no items until they open, or
// "".
func (s *RefSnapshot) UnloadedMenusHint() string {
	var names []string
	for i := range s.Snapshot.Elements {
		e := &s.Snapshot.Elements[i]
		if e.Parent < 0 || s.Snapshot.Elements[e.Parent].Role != desktop.Menubar || e.End > i+1 || strings.TrimSpace(e.Name) == "" || s.WithoutNewRefs || s.isInHiddenMenuBar(i) {
			continue
		}
		if (e.Role == desktop.Menu || e.Role.IsMenuItem()) && e.States.Has(desktop.Enabled) && s.Snapshot.IsVisible(i) && len(names) < MaxCandidates {
			names = append(names, s.Name(i))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " Menus that report their items only when open: " + strings.Join(names, ", ") + `. Open one by ax_click with mode "focus", then choose its item in the same way.`
}

// HasNoPage reports whether there is no visible document with a name or content, nor a dialog in
// front of it.
func (s *RefSnapshot) HasNoPage() bool {
	for i := range s.Snapshot.Elements {
		e := &s.Snapshot.Elements[i]
		if e.Role == desktop.Document && e.States.Has(desktop.Showing) && (e.Name != "" || e.End > i+1) {
			return false
		}
	}
	return s.AlertOfPage() < 0
}

// AlertOfPage returns the visible dialog that makes a browser hide its page, such as an alert of
// the page; -1 if there is none.
func (s *RefSnapshot) AlertOfPage() int {
	dialog := -1
	for i := range s.Snapshot.Elements {
		switch e := &s.Snapshot.Elements[i]; {
		case !e.States.Has(desktop.Showing):
		case e.Role == desktop.Document && e.Name != "":
			return -1
		case e.Role == desktop.Dialog || e.Role == desktop.AlertDialog:
			dialog = i
		}
	}
	return dialog
}

// BrowserPromptFor returns the index of the browser's own visible modal dialog, outside the page, in
// the window of element i. It returns -1 if there is none or i is not in a page.
func (s *RefSnapshot) BrowserPromptFor(i int) int {
	document, top := -1, s.Snapshot.WindowOf(i)
	for p := s.Snapshot.Elements[i].Parent; p >= 0; p = s.Snapshot.Elements[p].Parent {
		if s.Snapshot.Elements[p].Role == desktop.Document {
			document = p
		}
	}
	if document < 0 {
		return -1
	}
	for d := top + 1; d < s.Snapshot.Elements[top].End; d++ {
		switch e := &s.Snapshot.Elements[d]; {
		case e.Role == desktop.Document:
			d = e.End - 1
		case e.Role == desktop.Dialog && e.States.Has(desktop.Showing|desktop.Modal):
			return d
		}
	}
	return -1
}

// DialogsOutsidePage returns the visible dialogs of the window outside documents, such as a
// browser's questions for its page. It returns none if one of them contains i (-1: none).
func (s *RefSnapshot) DialogsOutsidePage(top, i int) (dialogs []int) {
	for d := top + 1; d < s.Snapshot.Elements[top].End; d++ {
		switch e := &s.Snapshot.Elements[d]; {
		case e.Role == desktop.Document:
			d = e.End - 1
		case (e.Role == desktop.Dialog || e.Role == desktop.AlertDialog) && s.Snapshot.IsVisible(d):
			if d <= i && i < e.End {
				return nil
			}
			dialogs = append(dialogs, d)
			d = e.End - 1
		}
	}
	return dialogs
}

// PageModal returns a visible modal dialog within a page: browsers omit the content behind it. -1
// if there is none.
func (s *RefSnapshot) PageModal() int {
	modal, within := -1, 0
	for i := range s.Snapshot.Elements {
		switch e := &s.Snapshot.Elements[i]; {
		case e.Role == desktop.Document && e.States.Has(desktop.Showing):
			within = max(within, e.End)
		case i < within && (e.Role == desktop.Dialog || e.Role == desktop.AlertDialog) && e.States.Has(desktop.Showing|desktop.Modal):
			modal = i
		}
	}
	return modal
}

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

// CellsOf returns the indexes of the cells of the block in the snapshot, by their names.
func (s *RefSnapshot) CellsOf(b fieldtext.Block, table desktop.ID) map[string]int {
	cells, names := make(map[string]int), make(map[string]bool)
	for r := range b.Rows {
		for c := range b.Rows[r] {
			names[b.CellName(r, c)] = true
		}
	}
	for i := range s.Snapshot.Elements {
		e := &s.Snapshot.Elements[i]
		if e.Role == desktop.Cell && names[e.Name] && e.Parent >= 0 && s.Snapshot.Elements[e.Parent].ID == table {
			cells[e.Name] = i
		}
	}
	return cells
}

// blockText returns the values of the cells of a block at cell i: tabs between cells, a line per row.
func (s *RefSnapshot) blockText(b fieldtext.Block, i int) string {
	var text strings.Builder
	cells := s.CellsOf(b, s.TableOf(i))
	for r := range b.Rows {
		for c := range b.Rows[r] {
			if at, is := cells[b.CellName(r, c)]; is {
				text.WriteString(s.Snapshot.Elements[at].Value)
			}
			if c+1 < len(b.Rows[r]) {
				text.WriteByte('\t')
			}
		}
		text.WriteByte('\n')
	}
	return text.String()
}

// TableOf returns the ID of the table of a cell: its parent; "" without one.
func (s *RefSnapshot) TableOf(i int) desktop.ID {
	if up := s.Snapshot.Elements[i].Parent; up >= 0 {
		return s.Snapshot.Elements[up].ID
	}
	return ""
}
