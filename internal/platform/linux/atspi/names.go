package atspi

import (
	"regexp"
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// maxName is how many bytes of a name or a description are kept.
const maxName = 4096

// clean takes out of a name, or a description, what toolkits put in that is no
// part of it: placeholders of embedded objects (U+FFFC), space around it, and in
// GTK 4 the name of the widget's class where there is none.
func (t traits) clean(s string) string {
	if strings.Contains(s, "\uFFFC") {
		s = strings.ReplaceAll(s, "\uFFFC", "")
	}
	s = strings.TrimSpace(s)
	if len(s) > maxName {
		s = strings.Clone(cut(s, maxName)) // the rest is not to be kept
	}
	if t.windowRelative() && className.MatchString(s) {
		return ""
	}
	return once(s)
}

// once is a name that is said with its mnemonic and without it, as by the buttons of GTK 4's
// dialogs ("_Discard Discard"), said without it.
func once(s string) string {
	for i := range s {
		if s[i] == ' ' && strings.IndexByte(s[:i], '_') >= 0 && strings.Replace(s[:i], "_", "", 1) == s[i+1:] {
			return s[i+1:]
		}
	}
	return s
}

// named sets the node's name to what the app says.
func (n *node) named(name string, habits traits) {
	n.name = habits.clean(name)
	n.opens, n.closes = name != strings.TrimLeft(name, " \n"), name != strings.TrimRight(name, " \n")
}

// className matches the name of a widget's class of GTK or of a library beside it, such as
// "GtkScale", by its last word. A label may begin as one does: "GtkPress".
var className = regexp.MustCompile(`^(Gtk|Adw|Vte|WebKit|Hdy|Shumate|Panel)([A-Z]\w*)?(Area|Assistant|Avatar|Banner|Bar|Base|Bin|Box|Button|` +
	`Calendar|Carousel|Child|Chooser|Clamp|Column|Compass|Content|Controls|Dialog|Dock|Dots|Down|Entry|Expander|Fixed|Flap|Frame|Gizmo|Grid|Group|` +
	`Handle|Icon|Image|Indicator|Inscription|Label|Leaflet|License|Lines|List|Map|Marker|Menu|Notebook|Overlay|Overview|Page|Paned|Picture|Popover|` +
	`Range|Resizer|Revealer|Row|Scale|Scrollable|Scrollbar|Section|Selector|Separator|Shortcut|Sidebar|Spinner|Squeezer|Stack|Statusbar|Switch|` +
	`Switcher|Tab|Terminal|Text|Thumbnail|Title|Toast|Video|View|Viewport|Widget|Window|Workspace)$`)

// namedByContent reports whether things of the role are called by what is written
// on them, by ARIA's "name from content".
func namedByContent(r desktop.Role) bool {
	switch r {
	case desktop.Button, desktop.Checkbox, desktop.Radio, desktop.Switch, desktop.Link, desktop.MenuItem, desktop.MenuCheckbox,
		desktop.MenuRadio, desktop.Tab, desktop.Option, desktop.TreeItem:
		return true
	}
	return false
}
