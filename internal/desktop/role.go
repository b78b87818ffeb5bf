package desktop

import "strings"

// A Role is the kind of an element, in the terms of WAI-ARIA 1.2, or of its successor or HTML for kinds
// that ARIA 1.2 lacks.
type Role string

// The roles. Backends use no others and map every other kind to Generic.
const (
	Window      Role = "window" // a top-level window that is not a dialog
	Dialog      Role = "dialog"
	AlertDialog Role = "alertdialog"
	Alert       Role = "alert"
	Status      Role = "status"
	Tooltip     Role = "tooltip"

	Button       Role = "button" // also a toggle button, which is Checkable
	Checkbox     Role = "checkbox"
	Radio        Role = "radio"
	Switch       Role = "switch"
	Textbox      Role = "textbox" // also a password field, which is Protected
	Searchbox    Role = "searchbox"
	Spinbutton   Role = "spinbutton"
	Slider       Role = "slider"
	Scrollbar    Role = "scrollbar"
	Progressbar  Role = "progressbar"
	Meter        Role = "meter"
	Combobox     Role = "combobox"
	Link         Role = "link"
	Menubar      Role = "menubar"
	Menu         Role = "menu"
	MenuItem     Role = "menuitem"
	MenuCheckbox Role = "menuitemcheckbox"
	MenuRadio    Role = "menuitemradio"
	Tablist      Role = "tablist"
	Tab          Role = "tab"
	Tabpanel     Role = "tabpanel"

	List         Role = "list"
	ListItem     Role = "listitem"
	Listbox      Role = "listbox"
	Option       Role = "option"
	TreeView     Role = "tree"
	TreeItem     Role = "treeitem"
	Table        Role = "table"
	Grid         Role = "grid"
	Row          Role = "row"
	Cell         Role = "cell"
	ColumnHeader Role = "columnheader"
	RowHeader    Role = "rowheader"

	Text       Role = "text" // static text
	Label      Role = "label"
	Heading    Role = "heading"
	Paragraph  Role = "paragraph"
	Image      Role = "image"
	Document   Role = "document" // a web page or an edited text
	Article    Role = "article"
	Blockquote Role = "blockquote"
	Code       Role = "code"
	Figure     Role = "figure"
	Form       Role = "form"
	Region     Role = "region" // also landmarks without a role in this list
	Navigation Role = "navigation"
	Main       Role = "main"
	Banner     Role = "banner"
	Footer     Role = "contentinfo"
	Search     Role = "search"
	Group      Role = "group"
	Radiogroup Role = "radiogroup"
	Toolbar    Role = "toolbar"
	Separator  Role = "separator"
	Canvas     Role = "canvas"
	Terminal   Role = "terminal"
	Generic    Role = "generic" // a container without a meaning
)

// IsInteractive reports whether people operate elements of the role.
func (r Role) IsInteractive() bool { return hasRole(r, interactiveRoles) }

// IsMenuItem reports whether the role is one of the menu item roles.
func (r Role) IsMenuItem() bool { return r == MenuItem || r == MenuCheckbox || r == MenuRadio }

// IsPressable reports whether pressing elements of the role has a lasting effect. A query must
// match the whole name of such an element: "Don't Save" is not "Save".
func (r Role) IsPressable() bool { return hasRole(r, pressableRoles) }

// IsInputOrItem reports whether people fill in, choose or follow elements of the role.
func (r Role) IsInputOrItem() bool { return hasRole(r, inputOrItemRoles) }

// IsSetMember reports whether elements of the role are members of a set. Toolkits may reuse such an element for
// another member as people scroll.
func (r Role) IsSetMember() bool { return hasRole(r, setMemberRoles) }

// IsRefContainer reports whether elements of the role can be the root of an outline, so that they have a
// ref although people do not operate them.
func (r Role) IsRefContainer() bool {
	switch r {
	case Window, Dialog, AlertDialog, List, Listbox, TreeView, Table, Grid, Document, Article, Main, Form, Tabpanel:
		return true
	}
	return false
}

// IsTextual reports whether the purpose of elements of the role is their text.
func (r Role) IsTextual() bool {
	switch r {
	case Text, Label, Heading, Paragraph, Image, Code, Blockquote, Figure:
		return true
	}
	return false
}

// namedByContent reports whether elements of the role usually take their name from the text inside them.
func (r Role) namedByContent() bool {
	return r.IsTextual() && r != Image && r != Figure || r.IsSetMember() || r.IsInteractive() && r != Textbox && r != Canvas && r != Terminal
}

// SafeName returns the role if it consists of 1 to 20 letters a-z, or else Generic. So a role that a
// program made up cannot forge lines of output.
func (r Role) SafeName() string {
	for i := range len(r) {
		if r[i] < 'a' || r[i] > 'z' {
			return string(Generic)
		}
	}
	if r == "" || len(r) > 20 {
		return string(Generic)
	}
	return string(r)
}

const (
	interactiveRoles = " button checkbox radio switch textbox searchbox spinbutton slider combobox link menuitem menuitemcheckbox " +
		"menuitemradio tab option treeitem terminal canvas "
	pressableRoles   = " button checkbox radio switch menuitem menuitemcheckbox menuitemradio tab "
	inputOrItemRoles = " textbox searchbox spinbutton slider scrollbar combobox link listitem option treeitem row cell rowheader columnheader " +
		"document terminal canvas "
	setMemberRoles = " listitem option treeitem row cell rowheader columnheader menuitem menuitemcheckbox menuitemradio tab "
)

func hasRole(r Role, words string) bool { return strings.Contains(words, " "+string(r)+" ") }
