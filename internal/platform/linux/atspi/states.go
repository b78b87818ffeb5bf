package atspi

import "github.com/gybob/aai-gateway/internal/desktop"

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
	case rolePassword:
		out |= desktop.Protected
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
