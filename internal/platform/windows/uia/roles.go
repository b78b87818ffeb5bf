package uia

import (
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// The control types with a role that depends on other properties.
const (
	typeButton      = 50000
	typeCheckbox    = 50002
	typeCombobox    = 50003
	typeEdit        = 50004
	typeListItem    = 50007
	typeList        = 50008
	typeMenuItem    = 50011
	typeRadio       = 50013
	typeSpinner     = 50016
	typeCustom      = 50025
	typeDataItem    = 50029
	typeDocument    = 50030
	typeSplitButton = 50031
	typeWindow      = 50032
	typeTitleBar    = 50037
)

// roleOf returns the role of an element. The role that the author of a page gives it comes first. The localized control type is not used:
// it is in the person's language.
func (p properties) roleOf() desktop.Role {
	if p.is(propPassword) {
		return desktop.Textbox
	}
	if level := p.number(propHeadingLevel); level > headingNone && level <= headingNone+9 {
		return desktop.Heading
	}
	for word := range strings.FieldsSeq(strings.ToLower(p.text(propAriaRole))) {
		if role := ariaRole(word); role != "" {
			return role
		}
	}
	return p.controlRole()
}

// controlRole returns the role by control type and patterns.
func (p properties) controlRole() desktop.Role {
	t := p.number(propControlType)
	selects, toggles := p.has(propSelected), p.has(propToggled)
	switch {
	case t == typeListItem && selects:
		return desktop.Option
	case t == typeList && p.has(propSelectsMultiple):
		return desktop.Listbox
	case t == typeMenuItem && toggles:
		return desktop.MenuCheckbox
	case t == typeMenuItem && selects:
		return desktop.MenuRadio
	case t == typeMenuItem && p.expandable():
		return desktop.Menu
	case (t == typeCustom || t == typeDataItem) && p.is(propGridItem):
		return desktop.Cell
	case t == typeDocument && p.has(propValueReadOnly) && !p.is(propValueReadOnly):
		return desktop.Textbox // a field of several lines, such as that of an editor
	case t == typeWindow && (p.is(propDialog) || p.is(propModal) || p.text(propClass) == dialogClass):
		return desktop.Dialog
	}
	if role := controlTypes()[t]; role != "" {
		return role
	}
	return desktop.Generic
}

// dialogClass is the class of the system's own dialogs.
const dialogClass = "#32770"

// controlTypes returns the roles of control types, unless controlRole decides.
func controlTypes() map[int]desktop.Role {
	return map[int]desktop.Role{
		typeButton: desktop.Button, 50001: desktop.Group, typeCheckbox: desktop.Checkbox, typeCombobox: desktop.Combobox, typeEdit: desktop.Textbox,
		50005: desktop.Link, 50006: desktop.Image, typeListItem: desktop.ListItem, typeList: desktop.List, 50009: desktop.Menu, 50010: desktop.Menubar,
		typeMenuItem: desktop.MenuItem, 50012: desktop.Progressbar, typeRadio: desktop.Radio, 50014: desktop.Scrollbar, 50015: desktop.Slider,
		typeSpinner: desktop.Spinbutton, 50017: desktop.Status, 50018: desktop.Tablist, 50019: desktop.Tab, 50020: desktop.Text, 50021: desktop.Toolbar,
		50022: desktop.Tooltip, 50023: desktop.TreeView, 50024: desktop.TreeItem, 50026: desktop.Group, 50028: desktop.Grid, typeDataItem: desktop.Row,
		typeDocument: desktop.Document, typeSplitButton: desktop.Button, typeWindow: desktop.Window, 50035: desktop.ColumnHeader, 50036: desktop.Table,
		50038: desktop.Separator, 50039: desktop.Group, 50040: desktop.Toolbar,
	}
}

// sameAriaRoles are the roles of pages that have the same name in this program. The roles window and canvas are no roles of pages.
const sameAriaRoles = " dialog alertdialog alert status tooltip button checkbox radio switch textbox searchbox spinbutton slider scrollbar progressbar meter " +
	"combobox link menubar menu menuitem menuitemcheckbox menuitemradio tablist tab tabpanel list listitem listbox option tree treeitem table grid row cell " +
	"columnheader rowheader heading paragraph document article blockquote code figure form region navigation main banner contentinfo search group " +
	"radiogroup toolbar separator "

// ariaRole returns the role of a word in the attribute role of a page, or "" if the control type decides.
func ariaRole(word string) desktop.Role {
	switch word {
	case "gridcell":
		return desktop.Cell
	case "treegrid":
		return desktop.Grid
	case "img", "image":
		return desktop.Image
	case "log", "timer", "marquee":
		return desktop.Status
	case "complementary":
		return desktop.Region
	}
	if strings.Contains(sameAriaRoles, " "+word+" ") {
		return desktop.Role(word)
	}
	return ""
}
