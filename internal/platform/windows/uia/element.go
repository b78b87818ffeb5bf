package uia

import (
	"cmp"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// Values of properties.
const (
	headingNone = 80050 // the levels follow

	toggledOn, toggledMixed = 1, 2
	expandedFully           = 1
	expandedPartly          = 2
	leaf                    = 3 // it can be neither expanded nor collapsed
	vertical                = 2

	maxName = 2000 // bytes of a name or a description
)

// The names of the background actions.
const (
	actionPress    = "press"
	actionToggle   = "toggle"
	actionExpand   = "expand"
	actionCollapse = "collapse"
	actionSelect   = "select"
	actionDefault  = "default"
)

// element returns the element with these properties, without ID. text is the content of an element that is no password field; it is cut
// to limit bytes unless limit is 0.
func (p properties) element(text string, limit int) desktop.Element {
	role := p.roleOf()
	e := desktop.Element{
		Role: role, Name: cut(p.text(propName), maxName), Identifier: cut(p.text(propIdentifier), maxName), States: p.states(role), Actions: p.actions(role),
	}
	if e.Description = cut(cmp.Or(p.text(propHelp), p.text(propFullDescription)), maxName); e.Description == e.Name {
		e.Description = ""
	}
	if e.States.Has(desktop.Showing) {
		e.Frame = rectangle(p[propFrame])
	}
	if role == desktop.Heading {
		e.Level = p.level()
	}
	if pos, size := p.number(propPosition), p.number(propSetSize); pos > 0 && pos <= size {
		e.Pos, e.Size = pos, size
	}
	if least, most := p.float(propMinimum), p.float(propMaximum); least < most {
		e.Min, e.Max = least, most
	}
	switch {
	case e.States.Has(desktop.Protected):
	case p.has(propNumber):
		e.Value = strconv.FormatFloat(p.float(propNumber), 'f', -1, 64)
	case limit > 0:
		e.Value = cut(text, limit)
	default:
		e.Value = strings.ToValidUTF8(text, "�")
	}
	return e
}

// cut returns at most limit bytes of a text, and whole characters.
func cut(text string, limit int) string {
	if len(text) > limit {
		for !utf8.RuneStart(text[limit]) {
			limit--
		}
		text = text[:limit]
	}
	return text
}

// rectangle converts left, top, width and height.
func rectangle(value any) desktop.Rect {
	r, _ := value.([]float64)
	if len(r) != 4 {
		return desktop.Rect{}
	}
	for _, n := range r {
		if math.IsNaN(n) || math.Abs(n) > 1<<24 { // an empty rectangle may be infinite
			return desktop.Rect{}
		}
	}
	round := func(n float64) int { return int(math.Round(n)) }
	return desktop.Rect{X: round(r[0]), Y: round(r[1]), W: max(0, round(r[2])), H: max(0, round(r[3]))}
}

func (p properties) level() int {
	if level := p.number(propHeadingLevel) - headingNone; level > 0 {
		return level
	}
	if level := p.number(propLevel); level > 0 {
		return level
	}
	level, _ := strconv.Atoi(p.aria("level"))
	return max(0, level)
}

// aria returns an attribute of a page's element, such as "true"; "" if it is not set.
func (p properties) aria(name string) string {
	for pair := range strings.SplitSeq(p.text(propAriaProperties), ";") {
		if key, value, _ := strings.Cut(pair, "="); strings.EqualFold(key, name) {
			return strings.ToLower(value)
		}
	}
	return ""
}

// expandable reports whether the element has children that can be hidden.
func (p properties) expandable() bool { return p.has(propExpanded) && p.number(propExpanded) != leaf }

// states returns the states. An element off the screen is scrolled away if it can scroll itself into view.
func (p properties) states(role desktop.Role) desktop.State {
	var s desktop.State
	set := func(has bool, state desktop.State) {
		if has {
			s |= state
		}
	}
	t := p.number(propControlType)
	set(!p.is(propOffscreen), desktop.Showing)
	set(p.is(propOffscreen) && p.is(propScrollItem), desktop.Offscreen)
	set(p.is(propEnabled), desktop.Enabled)
	set(p.is(propFocusable), desktop.Focusable)
	set(p.is(propHasFocus), desktop.Focused)
	set(p.is(propPassword), desktop.Protected)
	set(p.is(propRequired) || p.aria("required") == "true", desktop.Required)
	set(p.is(propModal) || p.aria("modal") == "true", desktop.Modal)
	set(p.is(propSelectsMultiple), desktop.Multiselectable)
	set(p.number(propOrientation) == vertical, desktop.Vertical)
	set(p.is(propItemContainer), desktop.Virtual)
	set(p.aria("busy") == "true", desktop.Busy)
	set(p.aria("invalid") != "" && p.aria("invalid") != "false", desktop.Invalid)
	field := t == typeEdit || t == typeDocument || t == typeCombobox || t == typeSpinner || role == desktop.Textbox || role == desktop.Searchbox
	set(field && p.editable(), desktop.Editable)
	set(field && p.has(propValueReadOnly) && p.is(propValueReadOnly) && t != typeCombobox && t != typeDocument, desktop.ReadOnly)
	set(t == typeDocument && role == desktop.Textbox || p.aria("multiline") == "true", desktop.Multiline)
	return s | p.choice(role)
}

// editable reports whether the text or number can be changed.
func (p properties) editable() bool {
	return p.has(propValueReadOnly) && !p.is(propValueReadOnly) || p.has(propNumber) && p.has(propNumberReadOnly) && !p.is(propNumberReadOnly)
}

// choice returns the states of elements that are checked, selected or expanded.
func (p properties) choice(role desktop.Role) desktop.State {
	var s desktop.State
	toggled := p.number(propToggled)
	switch {
	case p.has(propToggled):
		s |= desktop.Checkable
		switch {
		case toggled == toggledMixed:
			s |= desktop.Mixed
		case toggled == toggledOn && role == desktop.Button:
			s |= desktop.Checked | desktop.Pressed
		case toggled == toggledOn:
			s |= desktop.Checked
		}
	case role == desktop.Checkbox || role == desktop.Radio || role == desktop.MenuRadio || role == desktop.Switch:
		s |= desktop.Checkable
	}
	switch {
	case !p.has(propSelected):
	case s.Has(desktop.Checkable) && p.is(propSelected) && !p.has(propToggled):
		s |= desktop.Checked
	case role != desktop.Radio && role != desktop.MenuRadio:
		s |= desktop.Selectable
		if p.is(propSelected) {
			s |= desktop.Selected
		}
	}
	if p.expandable() {
		s |= desktop.Expandable
		if state := p.number(propExpanded); state == expandedFully || state == expandedPartly {
			s |= desktop.Expanded
		}
		if role == desktop.Menu || role == desktop.Combobox || role == desktop.Button {
			s |= desktop.HasPopup
		}
	}
	if popup := p.aria("haspopup"); popup != "" && popup != "false" {
		s |= desktop.HasPopup
	}
	return s
}

// actions returns the background actions, the one that a click would be first. A click selects an item of a set, and does not open it.
func (p properties) actions(role desktop.Role) []string {
	var names []string
	add := func(has bool, name string) {
		if has {
			names = append(names, name)
		}
	}
	toggles := p.has(propToggled)
	selects := p.has(propSelected)
	first := selects && !toggles && !role.IsMenuItem()
	add(first, actionSelect)
	add(p.is(propInvoke), actionPress)
	add(toggles, actionToggle)
	add(selects && !first, actionSelect)
	if state := p.number(propExpanded); p.expandable() {
		add(state != expandedFully, actionExpand)
		add(state == expandedFully || state == expandedPartly, actionCollapse)
	}
	add(len(names) == 0 && p.text(propDefaultAction) != "" && role != desktop.Textbox, actionDefault)
	return names
}

// isFrame reports whether the element is the title bar that the system draws: the windows' own tools replace its buttons.
func (p properties) isFrame() bool {
	return p.number(propControlType) == typeTitleBar && p.text(propFramework) == "Win32"
}
