package hwnd

import (
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// A kind is a kind of control.
type kind int

// The kinds. The zero value is a window of an unknown class.
const (
	unknown kind = iota
	button
	edit
	static
	listBox
	comboBox
	trackBar
	upDown
	tabControl
	listView
	treeView
	progressBar
	statusBar
	toolBar
	scrollBar
	header
	dialog
	popupMenu
	tooltip
	container // a class that only holds others
)

// kindOf returns the kind of control of a class. Toolkits name the classes that they make from the standard ones after those:
// "WindowsForms10.EDIT.app.0.1a", "TButton", "RichEdit50W".
func kindOf(class string) kind {
	exact := map[string]kind{
		"static": static, "listbox": listBox, "scrollbar": scrollBar, "#32770": dialog, "#32768": popupMenu, "tooltips_class32": tooltip,
		"combolbox": listBox, "comboboxex32": container, "rebarwindow32": container, "syspager": container, "mdiclient": container,
		"tstatictext": static, "tlistbox": listBox, "tscrollbar": scrollBar, "tmemo": edit,
	}
	class = strings.ToLower(class)
	if k, ok := exact[class]; ok {
		return k
	}
	for _, c := range []struct {
		part string
		kind kind
	}{
		{"msctls_trackbar", trackBar}, {"msctls_updown", upDown}, {"msctls_progress", progressBar}, {"msctls_statusbar", statusBar},
		{"systabcontrol", tabControl}, {"syslistview", listView}, {"systreeview", treeView}, {"sysheader", header}, {"toolbarwindow", toolBar},
		{"richedit", edit}, {".edit.", edit}, {".button.", button}, {".static.", static}, {".listbox.", listBox}, {".combobox.", comboBox},
		{".scrollbar.", scrollBar},
	} {
		if strings.Contains(class, c.part) {
			return c.kind
		}
	}
	for end, k := range map[string]kind{"button": button, "edit": edit, "combobox": comboBox, "checkbox": button, "radiobutton": button} {
		if strings.TrimPrefix(class, "t") == end {
			return k
		}
	}
	return unknown
}

// The styles of buttons: the type is in the lowest bits.
const (
	buttonType                                                   = 0xF
	buttonDefault, buttonCheck, buttonAutoCheck, buttonRadio     = 1, 2, 3, 4
	button3State, buttonAuto3State, buttonGroup, buttonAutoRadio = 5, 6, 7, 9
	buttonOwnerDrawn, buttonSplit, buttonSplitDefault            = 11, 12, 13
	buttonPushLike                                               = 0x1000
)

// buttonRole returns the role of a button by its style.
func buttonRole(style uint32) (role desktop.Role, states desktop.State) {
	switch style & buttonType {
	case buttonCheck, buttonAutoCheck, button3State, buttonAuto3State:
		if style&buttonPushLike != 0 {
			return desktop.Button, desktop.Checkable
		}
		return desktop.Checkbox, desktop.Checkable
	case buttonRadio, buttonAutoRadio:
		return desktop.Radio, desktop.Checkable
	case buttonGroup:
		return desktop.Group, 0
	case buttonDefault, buttonSplitDefault:
		return desktop.Button, desktop.Default
	}
	return desktop.Button, 0
}

// plainLabel removes the marks of access keys from a label: "F&ull && name" is "Full & name".
func plainLabel(label string) string {
	const both = "\x00"
	label = strings.ReplaceAll(strings.ReplaceAll(label, "&&", both), "&", "")
	return strings.TrimSpace(strings.ReplaceAll(label, both, "&"))
}

// fieldName returns the name that the label beside a field gives it, without the colon at its end.
func fieldName(label string) string { return strings.TrimRight(plainLabel(label), ": ") }
