package uiaprovider

import (
	"slices"
	"strconv"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// controlTypes returns the control types by role.
func controlTypes() map[desktop.Role]int {
	return map[desktop.Role]int{
		desktop.Button: 50000, desktop.Checkbox: 50002, desktop.Combobox: 50003, desktop.Textbox: 50004, desktop.Option: 50007, desktop.Listbox: 50008,
		desktop.Menu: 50011, desktop.Menubar: 50010, desktop.MenuItem: 50011, desktop.Scrollbar: 50014, desktop.Slider: 50015, desktop.Spinbutton: 50016,
		desktop.Tablist: 50018, desktop.Tab: 50019, desktop.Text: 50020, desktop.Label: 50020, desktop.Group: 50026, desktop.Window: 50032, desktop.Dialog: 50032,
		desktop.Canvas: 50025, desktop.Generic: 50033, desktop.Tabpanel: 50033,
	}
}

// Patterns returns the ids of the patterns that an element has.
func Patterns(e *desktop.Element) []int32 {
	var ids []int32
	add := func(has bool, id int32) {
		if has {
			ids = append(ids, id)
		}
	}
	s := e.States
	number := e.Min < e.Max
	pressable := len(e.Actions) > 0 && e.Role != desktop.Textbox
	add(pressable && !s.HasAny(desktop.Checkable|desktop.Expandable) && e.Role != desktop.Option && e.Role != desktop.Tab, 10000)
	add(s.Has(desktop.Editable) && !number || e.Role == desktop.Combobox, 10002)
	add(number, 10003)
	add(s.Has(desktop.Expandable), 10005)
	add(e.Role == desktop.Window || e.Role == desktop.Dialog, 10009)
	add(s.Has(desktop.Selectable) && e.Role != desktop.MenuItem, 10010)
	add(s.Has(desktop.Checkable), 10015)
	add(e.Role == desktop.Option, 10017)
	return ids
}

// availability returns the ids of the properties that say whether a pattern is there.
func availability() map[int32]int32 {
	return map[int32]int32{30031: 10000, 30043: 10002, 30033: 10003, 30028: 10005, 30044: 10009, 30036: 10010, 30041: 10015, 30035: 10017}
}

// owners returns the pattern that a property belongs to.
func owners() map[int32]int32 {
	return map[int32]int32{
		30045: 10002, 30046: 10002, 30047: 10003, 30048: 10003, 30049: 10003, 30050: 10003, 30070: 10005, 30077: 10009, 30079: 10010, 30086: 10015,
	}
}

// Property returns the value of a property: a bool, int, float64, string, or nil if the element does not support it.
func Property(e *desktop.Element, id int32) any {
	if owner, is := owners()[id]; is && !slices.Contains(Patterns(e), owner) {
		return nil
	}
	if pattern, is := availability()[id]; is {
		return slices.Contains(Patterns(e), pattern)
	}
	s := e.States
	switch id {
	case 30003:
		return controlTypes()[e.Role]
	case 30005:
		return e.Name
	case 30008:
		return s.Has(desktop.Focused)
	case 30009:
		return s.Has(desktop.Focusable)
	case 30010:
		return s.Has(desktop.Enabled)
	case 30011:
		return e.Identifier
	case 30013:
		return e.Description
	case 30016, 30017:
		return true
	case 30019:
		return s.Has(desktop.Protected)
	case 30022:
		return !s.Has(desktop.Showing)
	}
	return more(e, id)
}

// more returns the properties of patterns, sets and pages.
func more(e *desktop.Element, id int32) any {
	s := e.States
	number, _ := strconv.ParseFloat(e.Value, 64)
	switch id {
	case 30045:
		return e.Value
	case 30046, 30048:
		return !s.Has(desktop.Editable) && e.Min == e.Max
	case 30047:
		return number
	case 30049:
		return e.Min
	case 30050:
		return e.Max
	case 30051, 30052:
		return 1.0
	case 30070:
		return map[bool]int{true: 1, false: 0}[s.Has(desktop.Expanded)]
	case 30077:
		return s.Has(desktop.Modal)
	case 30079:
		return s.Has(desktop.Selected)
	case 30086:
		return map[bool]int{true: 1, false: 0}[s.Has(desktop.Checked)]
	case 30060:
		if e.Role == desktop.Listbox {
			return s.Has(desktop.Multiselectable)
		}
	case 30102:
		if s.Has(desktop.Multiline) {
			return "multiline=true"
		}
	case 30152:
		return e.Pos
	case 30153:
		return e.Size
	case 30174:
		return e.Role == desktop.Dialog
	}
	return nil
}
