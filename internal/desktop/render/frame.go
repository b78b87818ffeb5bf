package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// A frame describes the part of a browser's window around the page in one line: that of the address field,
// or of the first actionable element if there is no address.
type frame struct {
	window int   // the element that shows the complete frame when used as root
	tabs   []int // elements, if there are several
	more   int   // number of actionable elements that the line omits
}

const (
	minFrame  = 4 // smaller frames are shown element by element
	maxTabs   = 8 // maximum number of listed tabs
	tabLength = 30
)

// frames reduces the frame around each page to one line. Overlays of a page do not belong to the frame.
func (k *model) frames(as form) {
	if !k.snapshot.App.IsBrowser || k.options.Root >= 0 || k.options.Hidden {
		return
	}
	some := false
	for w := 0; w < len(k.nodes); w = k.nodes[w].end {
		some = k.frame(w, as) || some
	}
	if some {
		k.compact()
	}
}

// frame removes all entries of a window's frame but the one that describes it.
func (k *model) frame(window int, as form) bool {
	of := k.around(window)
	acting := slices.DeleteFunc(slices.Clone(of), func(c int) bool { return !k.nodes[c].acts })
	if len(acting) < minFrame {
		return false
	}
	lead := acting[0]
	f := &frame{window: k.nodes[window].elem, more: len(acting) - 1}
	for _, c := range acting {
		switch e := k.element(c); {
		case e.Role == desktop.Tab:
			f.tabs = append(f.tabs, k.nodes[c].elem)
		case e.States.Has(desktop.Editable) && !k.element(lead).States.Has(desktop.Editable):
			lead = c
		}
	}
	if f.tabs = f.tabs[:min(len(f.tabs), maxTabs)]; len(f.tabs) == 1 {
		f.tabs = nil // its name equals the window's
	}
	f.more -= len(f.tabs)
	for _, c := range of {
		if k.nodes[c].removed = c != lead && !k.element(c).States.Has(desktop.Focused); !k.nodes[c].removed && c != lead {
			f.more--
		}
	}
	k.nodes[lead].frame = f
	k.nodes[window].framed = as == textForm
	if page := k.page(window); page >= 0 {
		k.nodes[page].titled = true
		k.nodes[page].removed = as == textForm && k.isOnlyPage(window, lead, page)
	}
	return true
}

// page returns the entry of the page that the title of the window names, or -1.
func (k *model) page(window int) int {
	title := k.element(window).Name
	for c := window + 1; c < k.nodes[window].end; c++ {
		if e := k.element(c); e.Role == desktop.Document && !desktop.IsBlank(e.Name) && (strings.HasPrefix(title, e.Name+" - ") || strings.HasPrefix(title, e.Name+" \u2014 ")) {
			return c
		}
	}
	return -1
}

// isOnlyPage reports whether the window shows only the frame's line and the page, so that the page's
// contents can be shown directly in the window.
func (k *model) isOnlyPage(window, lead, page int) bool {
	if k.nodes[page].end == page+1 || k.nodes[page].acts || k.element(page).UnreadChildren > 0 || k.element(page).Value != "" {
		return false
	}
	for c := window + 1; c < k.nodes[window].end; c++ {
		if c == page {
			c = k.nodes[page].end - 1
		} else if in := page < k.nodes[c].end && page > c; !in && c != lead && !k.nodes[c].removed {
			return false
		}
	}
	return true
}

// around returns the entries in a window that are outside of its page and overlays; none without a page.
func (k *model) around(window int) (of []int) {
	holds := make([]bool, k.nodes[window].end-window) // contains a page, or an overlay
	page := false
	for c := k.nodes[window].end - 1; c > window; c-- {
		role := k.element(c).Role
		page = page || role == desktop.Document
		if holds[c-window] = holds[c-window] || isPageOrOverlay(role); holds[c-window] && k.nodes[c].parent >= 0 {
			holds[k.nodes[c].parent-window] = true
		}
	}
	for c := window + 1; page && c < k.nodes[window].end; c++ {
		switch {
		case isPageOrOverlay(k.element(c).Role):
			c = k.nodes[c].end - 1
		case !holds[c-window]:
			of = append(of, c)
		}
	}
	return of
}

// isPageOrOverlay reports whether the role is that of a page, or of an element that opens over or beside
// one.
func isPageOrOverlay(role desktop.Role) bool {
	switch role {
	case desktop.Document, desktop.Dialog, desktop.AlertDialog, desktop.Alert, desktop.Status, desktop.Menu, desktop.Listbox, desktop.Tooltip:
		return true
	}
	return false
}

// lead formats the element that the frame's line shows: usually the address field.
func (w *walker) lead(c int) string {
	var b strings.Builder
	e := w.element(c)
	if value := w.value(e); value == "" || !e.States.Has(desktop.Editable) {
		b.WriteString("browser: ")
		w.writeElement(&b, c)
	} else {
		b.WriteString("url [" + w.ref(w.nodes[c].elem) + "]")
		w.writeStates(&b, c)
		b.WriteString(": " + value)
	}
	return b.String()
}

// text returns the rest of the frame's line.
func (f *frame) text(k *model) string {
	var b strings.Builder
	for i, tab := range f.tabs {
		e := &k.snapshot.Elements[tab]
		b.WriteString([]string{"; tabs: ", ", "}[min(i, 1)])
		fmt.Fprintf(&b, "[%s] %s", k.ref(tab), desktop.Quote(e.Name, tabLength))
		if e.States.Has(desktop.Selected) {
			b.WriteString(" selected")
		}
	}
	fmt.Fprintf(&b, "; %d more: root %s", f.more, k.ref(f.window))
	return b.String()
}
