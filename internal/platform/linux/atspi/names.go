package atspi

import (
	"regexp"
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// maxName is the maximum length of a name or a description, in bytes.
const maxName = 4096

// clean removes toolkit artifacts from a name or a description: placeholders of embedded objects (U+FFFC),
// surrounding space, and the widget's class name that GTK 4 uses for nameless widgets.
func (p *profile) clean(s string) string {
	if strings.Contains(s, "\uFFFC") {
		s = strings.ReplaceAll(s, "\uFFFC", "")
	}
	s = strings.TrimSpace(s)
	if len(s) > maxName {
		s = strings.Clone(cut(s, maxName)) // do not retain the rest
	}
	if p.namesClasses && className.MatchString(s) {
		return ""
	}
	return once(s)
}

// once returns the plain form of a name that is given with and without its mnemonic, as by buttons of GTK
// 4's dialogs ("_Discard Discard").
func once(s string) string {
	for i := range s {
		if s[i] == ' ' && strings.IndexByte(s[:i], '_') >= 0 && strings.Replace(s[:i], "_", "", 1) == s[i+1:] {
			return s[i+1:]
		}
	}
	return s
}

// named sets the node's name from the app's answer.
func (n *node) named(name string, habits *profile) {
	n.name = habits.clean(name)
	n.opens, n.closes = name != strings.TrimLeft(name, " \n"), name != strings.TrimRight(name, " \n")
}

// className matches the name of a widget class of GTK or a related library, such as "GtkScale". It checks
// the last word, because a label may have such a prefix: "GtkPress".
var className = regexp.MustCompile(`^(Gtk|Adw|Vte|WebKit|Hdy|Shumate|Panel)([A-Z]\w*)?(Area|Assistant|Avatar|Banner|Bar|Base|Bin|Box|Button|` +
	`Calendar|Carousel|Child|Chooser|Clamp|Column|Compass|Content|Controls|Dialog|Dock|Dots|Down|Entry|Expander|Fixed|Flap|Frame|Gizmo|Grid|Group|` +
	`Handle|Icon|Image|Indicator|Inscription|Label|Leaflet|License|Lines|List|Map|Marker|Menu|Notebook|Overlay|Overview|Page|Paned|Picture|Popover|` +
	`Range|Resizer|Revealer|Row|Scale|Scrollable|Scrollbar|Section|Selector|Separator|Shortcut|Sidebar|Spinner|Squeezer|Stack|Statusbar|Switch|` +
	`Switcher|Tab|Terminal|Text|Thumbnail|Title|Toast|Video|View|Viewport|Widget|Window|Workspace)$`)

// namedByContent reports whether elements of the role take their name from their text, by ARIA's "name from
// content".
func namedByContent(r desktop.Role) bool {
	switch r {
	case desktop.Button, desktop.Checkbox, desktop.Radio, desktop.Switch, desktop.Link, desktop.MenuItem, desktop.MenuCheckbox,
		desktop.MenuRadio, desktop.Tab, desktop.Option, desktop.TreeItem:
		return true
	}
	return false
}
