package msaa

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// The roles that are not only looked up in roles, as in oleacc.h.
const (
	roleWindow    = 9
	roleClient    = 10
	roleMenuItem  = 12
	roleList      = 33
	roleListItem  = 34
	roleTreeItem  = 36
	roleTab       = 37
	roleStatic    = 41
	roleText      = 42
	roleCheckbox  = 44
	roleRadio     = 45
	roleCombobox  = 46
	roleSlider    = 51
	roleSpinner   = 52
	roleStatusBar = 23
)

// The bits of a state, as in oleacc.h.
const (
	stateUnavailable = 0x1
	stateSelected    = 0x2
	stateFocused     = 0x4
	statePressed     = 0x8
	stateChecked     = 0x10
	stateMixed       = 0x20
	stateReadOnly    = 0x40
	stateDefault     = 0x100
	stateExpanded    = 0x200
	stateCollapsed   = 0x400
	stateBusy        = 0x800
	stateInvisible   = 0x8000
	stateOffscreen   = 0x10000
	stateFocusable   = 0x100000
	stateSelectable  = 0x200000
	stateMulti       = 0x1000000 | 0x2000000
	stateProtected   = 0x20000000
	statePopup       = 0x40000000
)

// The names of the background actions.
const (
	actionSelect = "select"
	actionPress  = "press"
)

const maxName = 2000 // bytes of a name or a description

// roles returns the roles by those of MSAA.
func roles() map[uint32]desktop.Role {
	return map[uint32]desktop.Role{
		2: desktop.Menubar, 3: desktop.Scrollbar, 8: desktop.Alert, 11: desktop.Menu, roleMenuItem: desktop.MenuItem, 13: desktop.Tooltip, 15: desktop.Document,
		18: desktop.Dialog, 20: desktop.Group, 21: desktop.Separator, 22: desktop.Toolbar, roleStatusBar: desktop.Status, 24: desktop.Table, 25: desktop.ColumnHeader,
		26: desktop.RowHeader, 28: desktop.Row, 29: desktop.Cell, 30: desktop.Link, 31: desktop.Tooltip, roleList: desktop.Listbox, roleListItem: desktop.ListItem,
		35: desktop.TreeView, roleTreeItem: desktop.TreeItem, roleTab: desktop.Tab, 38: desktop.Tabpanel, 40: desktop.Image, roleStatic: desktop.Text,
		roleText: desktop.Textbox, 43: desktop.Button, roleCheckbox: desktop.Checkbox, roleRadio: desktop.Radio, roleCombobox: desktop.Combobox, 47: desktop.Combobox,
		48: desktop.Progressbar, 49: desktop.Slider, 50: desktop.Textbox, roleSlider: desktop.Slider, roleSpinner: desktop.Spinbutton, 56: desktop.Button,
		57: desktop.Button, 58: desktop.Button, 60: desktop.Tablist, 62: desktop.Button, 63: desktop.Textbox, 64: desktop.Button,
	}
}

// facts are the properties of an object. The value of a password field is never part of them.
type facts struct {
	role, state              uint32
	name, value, description string
	action                   bool // it has a default action
	inShown                  bool // its parent shows
	frame                    desktop.Rect
}

func (f *facts) is(bits uint32) bool { return f.state&bits != 0 }

// roleOf returns the role of the element.
func (f *facts) roleOf() desktop.Role {
	switch {
	case f.is(stateProtected):
		return desktop.Textbox
	case f.role == roleListItem && f.is(stateSelectable):
		return desktop.Option
	case f.role == roleText && f.is(stateReadOnly) && !f.is(stateFocusable):
		return desktop.Text
	case f.role == roleMenuItem && f.is(statePopup|stateExpanded|stateCollapsed):
		return desktop.Menu
	}
	return cmp.Or(roles()[f.role], desktop.Generic)
}

// element returns the element, without ID. The value is cut to limit bytes unless limit is 0.
func (f *facts) element(limit int) desktop.Element {
	role := f.roleOf()
	e := desktop.Element{Role: role, Name: cut(f.name, maxName), States: f.states(role), Actions: f.actions(role)}
	if f.description != f.name {
		e.Description = cut(f.description, maxName)
	}
	if e.States.Has(desktop.Showing) {
		e.Frame = f.frame
	}
	if f.is(stateProtected) || f.role == roleTreeItem || f.role == roleStatic && f.value == f.name { // the value of a tree's item is its level
		return e
	}
	e.Value = strings.ToValidUTF8(f.value, "�")
	if limit > 0 {
		e.Value = cut(e.Value, limit)
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

func (f *facts) states(role desktop.Role) desktop.State {
	var s desktop.State
	set := func(has bool, state desktop.State) {
		if has {
			s |= state
		}
	}
	set(!f.is(stateInvisible|stateOffscreen), desktop.Showing)
	set(f.is(stateOffscreen) && !f.is(stateInvisible), desktop.Offscreen)
	set(!f.is(stateUnavailable), desktop.Enabled)
	set(f.is(stateFocusable), desktop.Focusable)
	set(f.is(stateFocused), desktop.Focused)
	set(f.is(stateProtected), desktop.Protected)
	set(f.isField(role) && !f.is(stateReadOnly), desktop.Editable)
	set(role == desktop.Textbox && f.is(stateReadOnly), desktop.ReadOnly)
	set(f.is(stateBusy), desktop.Busy)
	set(f.is(stateDefault), desktop.Default)
	set(f.is(stateMulti), desktop.Multiselectable)
	set(f.is(statePopup), desktop.HasPopup)
	set(f.is(stateExpanded|stateCollapsed), desktop.Expandable)
	set(f.is(stateExpanded), desktop.Expanded)
	checkable := role == desktop.Checkbox || role == desktop.Radio || f.is(stateChecked|stateMixed) || role == desktop.Button && f.is(statePressed)
	set(checkable, desktop.Checkable)
	set(f.is(stateChecked), desktop.Checked)
	set(f.is(stateMixed), desktop.Mixed)
	set(role == desktop.Button && f.is(statePressed), desktop.Checked|desktop.Pressed)
	selectable := f.is(stateSelectable|stateSelected) && role != desktop.Radio && !role.IsMenuItem()
	set(selectable, desktop.Selectable)
	set(selectable && f.is(stateSelected), desktop.Selected)
	return s
}

// isField reports whether people type into elements like this.
func (f *facts) isField(role desktop.Role) bool {
	return role == desktop.Textbox || role == desktop.Spinbutton
}

// isNumber reports whether the value is a number that can be set.
func (f *facts) isNumber() bool {
	return (f.role == roleSlider || f.role == roleSpinner) && !f.is(stateReadOnly)
}

// actions returns the background actions. The name of the default action is in the person's language, so it has a word of its own. For an
// item of a set a click selects; its default action is often a double click.
func (f *facts) actions(role desktop.Role) []string {
	var names []string
	if f.is(stateSelectable) && !role.IsMenuItem() && role != desktop.Radio && role != desktop.Tab {
		names = append(names, actionSelect)
	}
	if f.action && role != desktop.Textbox && role != desktop.Text {
		names = append(names, actionPress)
	}
	return names
}
