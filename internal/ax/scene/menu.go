package scene

import (
	"strings"

	"aai"
	"aai/internal/desktop"
)

// An open menu, and the open list of a combo box, hold the keyboard and the pointer
// of the person, whoever opened them: what the person types goes there, although no
// window has lost the focus. So nothing of the kind is opened in the background.
// What is in them need not be open to be chosen.

// InClosedMenu reports whether the element is an item of a closed menu, which hangs
// from a menu bar that shows.
func (s *Scene) InClosedMenu(i int) bool {
	if !s.Shot.Elements[i].Role.MenuEntry() || s.Shot.Visible(i) || len(s.folded(i)) > 0 {
		return false
	}
	for p := s.Shot.Elements[i].Parent; p >= 0; p = s.Shot.Elements[p].Parent {
		switch role := s.Shot.Elements[p].Role; {
		case role == desktop.Menubar:
			return s.Shot.Visible(p)
		case role != desktop.Menu && !role.MenuEntry():
			return false
		}
	}
	return false
}

// folded returns what can be chosen in an element's closed menu or list.
func (s *Scene) folded(i int) []int {
	e := &s.Shot.Elements[i]
	var is func(desktop.Role) bool
	switch {
	case e.Role == desktop.Menu || e.Role.MenuEntry():
		is = desktop.Role.MenuEntry
	case e.Role == desktop.Combobox:
		is = func(r desktop.Role) bool { return r == desktop.Option || r == desktop.ListItem || r.MenuEntry() }
	default:
		return nil
	}
	var items []int
	for j := i + 1; j < e.End; j++ {
		if !is(s.Shot.Elements[j].Role) {
			continue
		}
		if s.Shot.Visible(j) {
			return nil // it is open
		}
		items = append(items, j)
	}
	return items
}

// RefuseToOpen fails for what opens a menu or a list that need not be opened.
func (s *Scene) RefuseToOpen(i int) error {
	items := s.folded(i)
	if len(items) == 0 {
		return nil
	}
	what, instead := "menu", "ax_click one of its items, which need not be open for that."
	if s.Shot.Elements[i].Role == desktop.Combobox {
		what, instead = "list", "ax_set_value chooses one."
	}
	e := aai.Errorf(aai.AutomationNotSupported, "%s opens a %s, which would take the person's keyboard and pointer until it is closed", s.Name(i), what)
	e.Delivery = aai.NotDelivered
	e.Candidates = s.Candidates(items)
	e.Hint = instead + ` With mode "focus" it is opened all the same.`
	return e
}

// unseenBar reports whether the element is in a menu bar that nobody sees, of which there
// is another in the window: LibreOffice has its menus drawn by GTK, and tells of its own
// too, as showing, but without a height.
func (s *Scene) unseenBar(i int) bool {
	for p := s.Shot.Elements[i].Parent; p >= 0; p = s.Shot.Elements[p].Parent {
		if s.Shot.Elements[p].Role == desktop.Menubar {
			return s.Shot.Elements[p].Frame.Empty() && s.hasBar(s.Shot.Window(p))
		}
	}
	return false
}

// hasBar reports whether there is a menu bar in the window that people see.
func (s *Scene) hasBar(window int) bool {
	for j := window; j < s.Shot.Elements[window].End; j++ {
		if e := &s.Shot.Elements[j]; e.Role == desktop.Menubar && !e.Frame.Empty() && s.Shot.Visible(j) {
			return true
		}
	}
	return false
}

// Unmade is a hint that names the closed menus of which a program tells nothing before
// they are open, or "".
func (s *Scene) Unmade() string {
	var names []string
	for i := range s.Shot.Elements {
		e := &s.Shot.Elements[i]
		if e.Parent < 0 || s.Shot.Elements[e.Parent].Role != desktop.Menubar || e.End > i+1 || strings.TrimSpace(e.Name) == "" || s.Silent || s.unseenBar(i) {
			continue
		}
		if (e.Role == desktop.Menu || e.Role.MenuEntry()) && e.States.Has(desktop.Enabled) && s.Shot.Visible(i) && len(names) < MaxCandidates {
			names = append(names, s.Name(i))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " What is in these is not known while they are closed: " + strings.Join(names, ", ") + `. One is opened by ax_click with mode "focus", and what it shows then is chosen in the same way.`
}
