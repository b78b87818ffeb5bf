package atspi

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway/internal/dbus/wire"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// relationLabelledBy is ATSPI_RELATION_LABELLED_BY of atspi-constants.h.
const relationLabelledBy = 2

// askLabels queries which nodes label the node.
func (p *program) askLabels(first, second *batch, t *tree, n *node) {
	first.add(p.bus.requests.relations, n.ref, func(d *wire.Decoder) {
		n.labels = readRelation(d, relationLabelledBy, p.sender)
		for _, label := range n.labels {
			if l := t.nodes[label]; l != nil && l.read {
				continue
			}
			habits := p.profile()
			second.add(p.bus.requests.name, label, func(d *wire.Decoder) {
				if name, ok := readText(d); ok {
					t.outside[label] = habits.clean(name)
				}
			})
		}
	})
}

// readRelation reads the targets of the relation of one kind: a(ua(so)).
func readRelation(d *wire.Decoder, kind uint32, sender string) []ref {
	var found []ref
	d.Array(8, func() {
		d.Struct()
		k, refs := d.U32(), readRefs(d, sender)
		if k == kind {
			found = append(found, refs...)
		}
	})
	if d.Err() != nil {
		return nil
	}
	return found
}

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

// An editor in a page exposes each line but the first, and each bold word, as a separate object. Its text
// contains one placeholder character per object.

// object is the placeholder character for an object in a text.
const object = "\uFFFC"

// hasEmbeddedObjects reports whether the node is an editor with embedded objects in its text.
func (n *node) hasEmbeddedObjects() bool {
	return n.states.has(stateEditable) && n.wantsText() && strings.Contains(n.text, object)
}

// isCompositeText reports whether the node is a read-only text with embedded objects: links, and marked
// words such as emphasized or deleted ones.
func (n *node) isCompositeText() bool {
	return !n.states.has(stateEditable) && n.wantsText() && strings.Contains(n.text, object)
}

// expandedText returns the node's text with the embedded objects replaced by their texts, paragraphs on
// separate lines.
func (n *node) expandedText() string {
	objects := n.children
	if strings.Count(n.text, object) != len(objects) { // Chromium's static texts have their words in the text
		objects = slices.DeleteFunc(slices.Clone(objects), func(c *node) bool { return c.role == roleStatic && c.count <= 0 })
	}
	parts := strings.Split(n.text, object)
	if len(parts) != len(objects)+1 {
		return n.text // the objects cannot be matched with the placeholders
	}
	var lines []string
	line, open := parts[0], parts[0] != ""
	for i, o := range objects {
		text, rest := firstOf(o.expandedText(), o.name), parts[i+1]
		if inline(o.role) {
			line, open = line+text+rest, true
			continue
		}
		if open {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
		lines = append(lines, strings.TrimSuffix(text, "\n"))
		line, open = rest, rest != ""
	}
	if open {
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// mayPrompt reports whether the node may be a part of a browser's own prompt: an alert, or in Chromium a
// container in an alert or a dialog.
func (p *program) mayPrompt(n *node) bool {
	if n.role == roleAlert {
		return p.profile().IsBrowser
	}
	if n.role != rolePanel || !p.profile().hasPromptPanels {
		return false
	}
	for up := n.parent; up != nil; up = up.parent {
		if up.role == roleAlert || up.role == roleDialog {
			return true
		}
	}
	return false
}

// called returns the author's identifier of the node: for a chooser its kind, and for untagged containers
// in Chromium's own windows their class.
func (n *node) called() string {
	switch n.role {
	case roleColorChooser:
		return desktop.ColorChooser
	case roleFileChooser:
		return desktop.FileChooser
	case roleFontChooser:
		return desktop.FontChooser
	case rolePanel:
		if n.nameHints.tag == "" {
			return cmp.Or(n.identifier, n.nameHints.class)
		}
	}
	return n.identifier
}
