package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// A frame is what a browser has around its page, told in one line: that of the address, or
// of the first thing in it where there is no address.
type frame struct {
	window int   // the element that shows all of it, as root
	tabs   []int // elements, where there are several
	more   int   // how many things to act on the line does not tell
}

const (
	minFrame  = 4 // of fewer things each is told
	maxTabs   = 8 // how many tabs are named
	tabLength = 30
)

// frames tells of the frame around each page in one line. What opens over a page is none
// of it.
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

// frame leaves of the frame of a window the one node that tells of it.
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
		f.tabs = nil // it is called as the window is
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

// page is the page that a window's title names; -1 if there is none.
func (k *model) page(window int) int {
	title := k.element(window).Name
	for c := window + 1; c < k.nodes[window].end; c++ {
		if e := k.element(c); e.Role == desktop.Document && !desktop.IsBlank(e.Name) && (strings.HasPrefix(title, e.Name+" - ") || strings.HasPrefix(title, e.Name+" \u2014 ")) {
			return c
		}
	}
	return -1
}

// isOnlyPage reports whether the window shows nothing but the line of its frame and the page: what
// is in the page is told as being in the window.
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

// around are the nodes in a window that are beside its page; none where it has no page.
func (k *model) around(window int) (of []int) {
	holds := make([]bool, k.nodes[window].end-window) // a page, or what opens over one
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

// isPageOrOverlay reports whether it is a page, or opens over or beside one.
func isPageOrOverlay(role desktop.Role) bool {
	switch role {
	case desktop.Document, desktop.Dialog, desktop.AlertDialog, desktop.Alert, desktop.Status, desktop.Menu, desktop.Listbox, desktop.Tooltip:
		return true
	}
	return false
}

// lead is the one thing of the frame that its line tells: the address is known by its place.
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

// text is what the line of the frame says after its one thing.
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
