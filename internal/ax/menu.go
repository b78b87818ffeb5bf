package ax

import (
	"slices"
	"strings"

	"aai"
	"aai/internal/desktop"
)

// An open menu, and the open list of a combo box, hold the keyboard and the pointer
// of the person, whoever opened them: what the person types goes there, although no
// window has lost the focus. So nothing of the kind is opened in the background.
// What is in them need not be open to be chosen.

// inClosedMenu reports whether the element is an item of a closed menu, which hangs
// from a menu bar that shows.
func (v *view) inClosedMenu(i int) bool {
	if !v.shot.Elements[i].Role.MenuEntry() || v.shot.Visible(i) || len(v.folded(i)) > 0 {
		return false
	}
	for p := v.shot.Elements[i].Parent; p >= 0; p = v.shot.Elements[p].Parent {
		switch role := v.shot.Elements[p].Role; {
		case role == desktop.Menubar:
			return v.shot.Visible(p)
		case role != desktop.Menu && !role.MenuEntry():
			return false
		}
	}
	return false
}

// folded returns what can be chosen in an element's closed menu or list.
func (v *view) folded(i int) []int {
	e := &v.shot.Elements[i]
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
		if !is(v.shot.Elements[j].Role) {
			continue
		}
		if v.shot.Visible(j) {
			return nil // it is open
		}
		items = append(items, j)
	}
	return items
}

// refuseToOpen fails for what opens a menu or a list that need not be opened.
func (v *view) refuseToOpen(i int) error {
	items := v.folded(i)
	if len(items) == 0 {
		return nil
	}
	what, instead := "menu", "ax_click one of its items, which need not be open for that."
	if v.shot.Elements[i].Role == desktop.Combobox {
		what, instead = "list", "ax_set_value chooses one."
	}
	e := aai.Errorf(aai.AutomationNotSupported, "%s opens a %s, which would take the person's keyboard and pointer until it is closed", v.name(i), what)
	e.Delivery = aai.NotDelivered
	e.Candidates = v.candidates(items)
	e.Hint = instead + ` With mode "focus" it is opened all the same.`
	return e
}

// unseenBar reports whether the element is in a menu bar that nobody sees, of which there
// is another in the window: LibreOffice has its menus drawn by GTK, and tells of its own
// too, as showing, but without a height.
func (v *view) unseenBar(i int) bool {
	for p := v.shot.Elements[i].Parent; p >= 0; p = v.shot.Elements[p].Parent {
		if v.shot.Elements[p].Role == desktop.Menubar {
			return v.shot.Elements[p].Frame.Empty() && v.hasBar(v.shot.Window(p))
		}
	}
	return false
}

// hasBar reports whether there is a menu bar in the window that people see.
func (v *view) hasBar(window int) bool {
	for j := window; j < v.shot.Elements[window].End; j++ {
		if e := &v.shot.Elements[j]; e.Role == desktop.Menubar && !e.Frame.Empty() && v.shot.Visible(j) {
			return true
		}
	}
	return false
}

// once leaves out what is in menu bars that nobody sees, if something else is meant too.
func (v *view) once(matches []int) []int {
	if len(matches) < 2 {
		return matches
	}
	left := slices.DeleteFunc(slices.Clone(matches), v.unseenBar)
	if len(left) == 0 {
		return matches
	}
	return left
}

// unmade is a hint that names the closed menus of which a program tells nothing before
// they are open, or "".
func (v *view) unmade() string {
	var names []string
	for i := range v.shot.Elements {
		e := &v.shot.Elements[i]
		if e.Parent < 0 || v.shot.Elements[e.Parent].Role != desktop.Menubar || e.End > i+1 || strings.TrimSpace(e.Name) == "" || v.silent || v.unseenBar(i) {
			continue
		}
		if (e.Role == desktop.Menu || e.Role.MenuEntry()) && e.States.Has(desktop.Enabled) && v.shot.Visible(i) && len(names) < maxCandidates {
			names = append(names, v.name(i))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " What is in these is not known while they are closed: " + strings.Join(names, ", ") + `. One is opened by ax_click with mode "focus", and what it shows then is chosen in the same way.`
}
