package snapview

import (
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
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
