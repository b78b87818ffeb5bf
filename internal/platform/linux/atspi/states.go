package atspi

import (
	"slices"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// A stateSet is a set of AT-SPI states: the two words of GetState, the lower one first.
type stateSet uint64

// The states that this package uses: AtspiStateType of atspi-constants.h.
const (
	stateActive             stateSet = 1 << 1
	stateBusy               stateSet = 1 << 3
	stateChecked            stateSet = 1 << 4
	stateCollapsed          stateSet = 1 << 5
	stateDefunct            stateSet = 1 << 6
	stateEditable           stateSet = 1 << 7
	stateExpandable         stateSet = 1 << 9
	stateExpanded           stateSet = 1 << 10
	stateFocusable          stateSet = 1 << 11
	stateFocused            stateSet = 1 << 12
	stateModal              stateSet = 1 << 16
	stateMultiLine          stateSet = 1 << 17
	stateMultiselectable    stateSet = 1 << 18
	statePressed            stateSet = 1 << 20
	stateSelectable         stateSet = 1 << 22
	stateSelected           stateSet = 1 << 23
	stateSensitive          stateSet = 1 << 24
	stateShowing            stateSet = 1 << 25
	stateTransient          stateSet = 1 << 28
	stateVertical           stateSet = 1 << 29
	stateVisible            stateSet = 1 << 30
	stateManagesDescendants stateSet = 1 << 31
	stateIndeterminate      stateSet = 1 << 32
	stateRequired           stateSet = 1 << 33
	stateInvalidEntry       stateSet = 1 << 36
	stateIsDefault          stateSet = 1 << 39
	stateCheckable          stateSet = 1 << 41
	stateHasPopup           stateSet = 1 << 42
	stateReadOnly           stateSet = 1 << 43
)

func (s stateSet) has(all stateSet) bool { return s&all == all }

func (s stateSet) any(some stateSet) bool { return s&some != 0 }

// plainStates converts the states that have a direct equivalent.
func (s stateSet) plainStates() desktop.State {
	pairs := [...]struct {
		theirs stateSet
		ours   desktop.State
	}{
		{stateFocusable, desktop.Focusable}, {stateFocused, desktop.Focused},
		{stateEditable, desktop.Editable}, {stateReadOnly, desktop.ReadOnly}, {stateCheckable, desktop.Checkable},
		{stateChecked, desktop.Checked}, {statePressed, desktop.Pressed}, {stateSelectable, desktop.Selectable},
		{stateSelected, desktop.Selected}, {stateExpandable, desktop.Expandable}, {stateCollapsed, desktop.Expandable},
		{stateExpanded, desktop.Expandable | desktop.Expanded}, {stateHasPopup, desktop.HasPopup},
		{stateRequired, desktop.Required}, {stateInvalidEntry, desktop.Invalid}, {stateBusy, desktop.Busy},
		{stateModal, desktop.Modal}, {stateIsDefault, desktop.Default}, {stateMultiselectable, desktop.Multiselectable},
		{stateVertical, desktop.Vertical},
	}
	var out desktop.State
	for _, p := range pairs {
		if s.has(p.theirs) {
			out |= p.ours
		}
	}
	return out
}

// wordStates returns the node's ARIA states. The caller sets Showing.
func (n *node) wordStates() desktop.State {
	out := n.states.plainStates()
	switch n.role {
	case roleCheckBox, roleRadioButton, roleCheckMenuItem, roleRadioMenuItem, roleToggleButton:
		out |= desktop.Checkable
	case roleTableCell:
		if slices.Contains(n.actions, toggle) {
			out |= desktop.Checkable
		}
	case rolePassword:
		out |= desktop.Protected
	case roleFiller:
		if n.isEditableLabel() {
			out |= desktop.Editable
		}
	case roleButtonMenu:
		out |= desktop.HasPopup
	case roleMenu:
		if n.elementRole == desktop.MenuItem {
			out |= desktop.HasPopup
		}
	}
	if n.role == roleToggleButton && out.HasAny(desktop.Checked|desktop.Pressed) {
		out |= desktop.Checked | desktop.Pressed
	}
	if !out.Has(desktop.Checkable) {
		out &^= desktop.Pressed // a button during a press, for a moment
	}
	if out.Has(desktop.Checkable) && n.states.has(stateIndeterminate) {
		out = out&^desktop.Checked | desktop.Mixed
	}
	switch n.elementRole {
	case desktop.Scrollbar:
		if f := n.frame; n.isBarRange() && f.H > f.W {
			out |= desktop.Vertical
		}
	case desktop.Textbox, desktop.Searchbox:
		if !out.Has(desktop.Editable) && n.role != roleDateEditor { // for this role, the parts are set
			out |= desktop.ReadOnly
		}
		if n.states.has(stateMultiLine) {
			out |= desktop.Multiline
		}
	case desktop.Tab:
		// Qt sets it on the front tab, regardless of the keyboard focus.
		if out.Has(desktop.Focused) && !n.states.any(stateSelectable|stateSelected) {
			out = out&^desktop.Focused | desktop.Selected
		}
	case desktop.Text, desktop.Label, desktop.Image, desktop.Status:
		out &^= desktop.ReadOnly // implied
	}
	if sensitive(n) {
		out |= desktop.Enabled
	}
	if n.parent != nil && n.parent.parent == nil && n.states.has(stateActive) {
		out |= desktop.Active
	}
	if n.unread > 0 || n.states.has(stateManagesDescendants) && len(n.children) > 0 && n.children[0].states.has(stateTransient) {
		out |= desktop.Virtual
	}
	return out
}

// stateWord returns the word for a state in AT-SPI's events; "" if it has none. Source: the nicknames of
// AtspiStateType.
func stateWord(name string) string {
	switch name {
	case "showing", "visible":
		return desktop.Showing.Words()[0]
	case "enabled", "sensitive":
		return desktop.Enabled.Words()[0]
	case "read-only":
		return desktop.ReadOnly.Words()[0]
	case "multi-line":
		return desktop.Multiline.Words()[0]
	case "indeterminate":
		return desktop.Mixed.Words()[0]
	case "has-popup":
		return desktop.HasPopup.Words()[0]
	case "invalid-entry":
		return desktop.Invalid.Words()[0]
	case "is-default":
		return desktop.Default.Words()[0]
	case "focusable", "focused", "editable", "checkable", "checked", "pressed", "selectable", "selected", "expandable",
		"expanded", "required", "busy", "modal", "active", "multiselectable", "vertical":
		return name
	}
	return ""
}

// A roleNumber is a numeric AT-SPI role. Role names differ between toolkits and languages; numbers do not.
type roleNumber uint32

// Roles with special handling, by atspi-constants.h.
const (
	roleAlert         roleNumber = 2
	roleCheckBox      roleNumber = 7
	roleCheckMenuItem roleNumber = 8
	roleColorChooser  roleNumber = 9
	roleComboBox      roleNumber = 11
	roleDateEditor    roleNumber = 12
	roleDialog        roleNumber = 16
	roleFileChooser   roleNumber = 19
	roleFiller        roleNumber = 20
	roleFontChooser   roleNumber = 22
	roleFrame         roleNumber = 23
	roleIcon          roleNumber = 26
	roleImage         roleNumber = 27
	roleInternalFrame roleNumber = 28
	roleLabel         roleNumber = 29
	roleLayeredPane   roleNumber = 30
	roleList          roleNumber = 31
	roleListItem      roleNumber = 32
	roleMenu          roleNumber = 33
	roleMenuBar       roleNumber = 34
	rolePageTab       roleNumber = 37
	rolePageTabList   roleNumber = 38
	rolePanel         roleNumber = 39
	rolePassword      roleNumber = 40
	roleRadioButton   roleNumber = 44
	roleRadioMenuItem roleNumber = 45
	roleScrollBar     roleNumber = 48
	roleScrollPane    roleNumber = 49
	roleSpinButton    roleNumber = 52
	rolePushButton    roleNumber = 43
	roleTable         roleNumber = 55
	roleTableCell     roleNumber = 56
	roleTerminal      roleNumber = 60
	roleText          roleNumber = 61
	roleToggleButton  roleNumber = 62
	roleTree          roleNumber = 65
	roleTreeTable     roleNumber = 66
	roleUnknown       roleNumber = 67
	roleViewport      roleNumber = 68
	roleParagraph     roleNumber = 73
	roleEditbar       roleNumber = 77
	roleEntry         roleNumber = 79
	roleSection       roleNumber = 85
	roleHeading       roleNumber = 83
	roleLink          roleNumber = 88
	roleDocumentWeb   roleNumber = 95
	roleListBox       roleNumber = 98
	roleLandmark      roleNumber = 110
	roleStatic        roleNumber = 116
	roleSubscript     roleNumber = 119
	roleSuperscript   roleNumber = 120
	roleDeletion      roleNumber = 125
	roleInsertion     roleNumber = 126
	roleMark          roleNumber = 127
	roleSuggestion    roleNumber = 128
	roleButtonMenu    roleNumber = 129
)

// plainRole returns the ARIA role for roles that the number alone determines: the enum AtspiRole of
// atspi-constants.h (at-spi2-core 2.46), in its order.
func plainRole(n roleNumber) desktop.Role {
	const count = 130
	words := [count]desktop.Role{
		0: desktop.Generic, 1: desktop.Text, 2: desktop.Alert, 3: desktop.Image, 4: desktop.Image,
		5: desktop.Grid, 6: desktop.Canvas, 7: desktop.Checkbox, 8: desktop.MenuCheckbox, 9: desktop.Group,
		10: desktop.ColumnHeader, 11: desktop.Combobox, 12: desktop.Textbox, 13: desktop.Image, 14: desktop.Group,
		15: desktop.Slider, 16: desktop.Dialog, 17: desktop.Group, 18: desktop.Canvas, 19: desktop.Dialog,
		20: desktop.Generic, 21: desktop.Generic, 22: desktop.Group, 23: desktop.Group, 24: desktop.Generic,
		25: desktop.Document, 26: desktop.Image, 27: desktop.Image, 28: desktop.Group, 29: desktop.Label,
		30: desktop.Generic, 31: desktop.List, 32: desktop.ListItem, 33: desktop.Menu, 34: desktop.Menubar,
		35: desktop.MenuItem, 36: desktop.Generic, 37: desktop.Tab, 38: desktop.Tablist, 39: desktop.Generic,
		40: desktop.Textbox, 41: desktop.Menu, 42: desktop.Progressbar, 43: desktop.Button, 44: desktop.Radio,
		45: desktop.MenuRadio, 46: desktop.Generic, 47: desktop.RowHeader, 48: desktop.Scrollbar, 49: desktop.Generic,
		50: desktop.Separator, 51: desktop.Slider, 52: desktop.Spinbutton, 53: desktop.Generic, 54: desktop.Status,
		55: desktop.Table, 56: desktop.Cell, 57: desktop.ColumnHeader, 58: desktop.RowHeader, 59: desktop.MenuItem,
		60: desktop.Terminal, 61: desktop.Textbox, 62: desktop.Button, 63: desktop.Toolbar, 64: desktop.Tooltip,
		65: desktop.TreeView, 66: desktop.Grid, 67: desktop.Generic, 68: desktop.Generic, 69: desktop.Group,
		70: desktop.Generic, 71: desktop.Banner, 72: desktop.Footer, 73: desktop.Paragraph, 74: desktop.Separator,
		75: desktop.Group, 76: desktop.Combobox, 77: desktop.Textbox, 78: desktop.Group, 79: desktop.Textbox,
		80: desktop.Figure, 81: desktop.Text, 82: desktop.Document, 83: desktop.Heading, 84: desktop.Group,
		85: desktop.Generic, 86: desktop.Generic, 87: desktop.Form, 88: desktop.Link, 89: desktop.Generic,
		90: desktop.Row, 91: desktop.TreeItem, 92: desktop.Document, 93: desktop.Document, 94: desktop.Document,
		95: desktop.Document, 96: desktop.Document, 97: desktop.Article, 98: desktop.Listbox, 99: desktop.Group,
		100: desktop.Image, 101: desktop.Status, 102: desktop.Status, 103: desktop.Meter, 104: desktop.Generic,
		105: desktop.Blockquote, 106: desktop.Group, 107: desktop.Group, 108: desktop.Text, 109: desktop.Article,
		110: desktop.Region, 111: desktop.Status, 112: desktop.Status, 113: desktop.Text, 114: desktop.Meter,
		115: desktop.Status, 116: desktop.Text, 117: desktop.Text, 118: desktop.Text, 119: desktop.Text,
		120: desktop.Text, 121: desktop.List, 122: desktop.Text, 123: desktop.Text, 124: desktop.Text,
		125: desktop.Text, 126: desktop.Text, 127: desktop.Text, 128: desktop.Text, 129: desktop.Button,
	}
	if n < count {
		return words[n]
	}
	return desktop.Generic
}

// word returns the node's ARIA role, from the role number, states, interfaces and ancestors.
func (n *node) word() desktop.Role {
	if n.parent != nil && n.parent.parent == nil {
		return n.windowRole()
	}
	switch n.role {
	case roleAlert:
		return desktop.Alert
	case roleScrollBar:
		if n.offers&offersValue == 0 { // in GTK 4 the number belongs to a child
			return desktop.Generic
		}
	case roleListItem:
		// The rows of GTK 4.8's list views lack SELECTABLE.
		if p := n.parent; n.states.has(stateSelectable) || p != nil && p.offers&offersSelection != 0 && n.states.has(stateFocusable) {
			return desktop.Option
		}
	case roleList:
		if n.states.any(stateFocusable | stateMultiselectable | stateManagesDescendants) {
			return desktop.Listbox
		}
	case roleTable:
		if n.states.any(stateFocusable | stateManagesDescendants) {
			return desktop.Grid
		}
	case roleMenu:
		// An item that opens a menu has the role menu, and the menu's items as children.
		if p := n.parent; p != nil && (p.role == roleMenuBar || p.role == roleMenu && n.action()) {
			return desktop.MenuItem
		}
	case roleTableCell:
		if p := n.parent; p != nil && p.role == roleTree && n.states.any(stateSelectable|stateExpandable|stateExpanded) {
			return desktop.TreeItem
		}
	case rolePushButton:
		// GTK 4's menu buttons contain another button, which is the pressable one. Their actions are those of the menu.
		if !n.states.has(stateFocusable) && n.detailed && !slices.Contains(n.actions, "click") && n.holdsButton() {
			return desktop.Group
		}
	case rolePanel, roleSection, roleFiller, roleUnknown:
		switch {
		case n.isBarRange():
			return desktop.Scrollbar
		case n.tab != nil:
			return desktop.Tabpanel
		case n.isEditableLabel():
			return desktop.Textbox
		}
		if n.title() != "" {
			return desktop.Group
		}
	}
	if word, ok := webRole(n.webRoles); ok {
		return word
	}
	return plainRole(n.role)
}

func (n *node) holdsButton() bool {
	for _, child := range n.children {
		if child.role == rolePushButton || child.role == roleToggleButton {
			return true
		}
	}
	return false
}

// windowRole returns the ARIA role of a window, which is a child of the app.
func (n *node) windowRole() desktop.Role {
	switch word := plainRole(n.role); word {
	case desktop.Alert:
		return desktop.AlertDialog
	case desktop.Dialog, desktop.Menu, desktop.Tooltip:
		return word
	}
	return desktop.Window
}

// webRole returns the role that a web page sets, if AT-SPI's number is less specific. Source: the attribute
// "xml-roles", by the Core Accessibility API Mappings.
func webRole(roles string) (desktop.Role, bool) {
	switch roles {
	case "switch":
		return desktop.Switch, true
	case "searchbox":
		return desktop.Searchbox, true
	case "navigation":
		return desktop.Navigation, true
	case "main":
		return desktop.Main, true
	case "banner":
		return desktop.Banner, true
	case "contentinfo":
		return desktop.Footer, true
	case "search":
		return desktop.Search, true
	case "region":
		return desktop.Region, true
	case "radiogroup":
		return desktop.Radiogroup, true
	case "figure":
		return desktop.Figure, true
	case "code":
		return desktop.Code, true
	case "meter":
		return desktop.Meter, true
	case "listbox":
		return desktop.Listbox, true
	case "alertdialog":
		return desktop.AlertDialog, true
	case "status":
		return desktop.Status, true
	}
	return "", false
}
