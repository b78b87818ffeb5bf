package desktop

import "strings"

// A Role is what kind of thing an element is, in the words of WAI-ARIA 1.2, and
// in those of its successor or of HTML where that has none.
type Role string

// The roles. Backends use no others; what has no word here is Generic.
const (
	Window      Role = "window" // a top-level window that is no dialog
	Dialog      Role = "dialog"
	AlertDialog Role = "alertdialog"
	Alert       Role = "alert"
	Status      Role = "status"
	Tooltip     Role = "tooltip"

	Button       Role = "button" // also a toggle button: it is Checkable
	Checkbox     Role = "checkbox"
	Radio        Role = "radio"
	Switch       Role = "switch"
	Textbox      Role = "textbox" // also of a password: it is Protected
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

	Text       Role = "text" // words that are only there to be read
	Label      Role = "label"
	Heading    Role = "heading"
	Paragraph  Role = "paragraph"
	Image      Role = "image"
	Document   Role = "document" // a web page, a text being written
	Article    Role = "article"
	Blockquote Role = "blockquote"
	Code       Role = "code"
	Figure     Role = "figure"
	Form       Role = "form"
	Region     Role = "region" // also the landmarks that have no word here
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
	Generic    Role = "generic" // holds others and means nothing by itself
)

// IsInteractive reports whether people do something with elements of the role.
func (r Role) IsInteractive() bool { return hasRole(r, interactiveRoles) }

// IsMenuItem reports whether the role is one of what menus list.
func (r Role) IsMenuItem() bool { return r == MenuItem || r == MenuCheckbox || r == MenuRadio }

// IsPressable reports whether elements of the role do something for good when they are
// pressed: what says "Don't Save" is no "Save".
func (r Role) IsPressable() bool { return hasRole(r, pressableRoles) }

// IsInputOrItem reports whether people fill in, choose or follow elements of the role.
func (r Role) IsInputOrItem() bool { return hasRole(r, inputOrItemRoles) }

// IsSetMember reports whether elements of the role are one of many of a kind, which
// toolkits use again for another of the kind as people scroll.
func (r Role) IsSetMember() bool { return hasRole(r, setMemberRoles) }

// IsRefContainer reports whether elements of the role are worth an outline of their own,
// so that they have a ref although people do nothing with them.
func (r Role) IsRefContainer() bool {
	switch r {
	case Window, Dialog, AlertDialog, List, Listbox, TreeView, Table, Grid, Document, Article, Main, Form, Tabpanel:
		return true
	}
	return false
}

// IsTextual reports whether elements of the role are there for their words.
func (r Role) IsTextual() bool {
	switch r {
	case Text, Label, Heading, Paragraph, Image, Code, Blockquote, Figure:
		return true
	}
	return false
}

// namedByContent reports whether the names of such elements are as a rule made
// of the words in them.
func (r Role) namedByContent() bool {
	return r.IsTextual() && r != Image && r != Figure || r.IsSetMember() || r.IsInteractive() && r != Textbox && r != Canvas && r != Terminal
}

// SafeName is the role as a line may show it: backends use no roles but ours, and
// one that did could forge lines.
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
