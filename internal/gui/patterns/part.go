package patterns

import (
	"slices"
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// A part is the dialog, page or window in front, with its visible elements by their kinds.
type part struct {
	*desktop.Snapshot
	top    int // its element; -1: there is none
	page   int // the document of a browser; -1: none
	dialog bool
	title  string
	size   int // number of visible elements

	// chooser reports whether the toolkit names it as its dialog for files.
	chooser bool

	buttons, passwords, texts, multiline, combos, toggles, searches, lists, tables, bars, busy []int
	messages, headings, alerts                                                                 []string
}

// fileChooserID is the identifier of GTK's dialog for files.
const fileChooserID = "file-chooser"

// frontOf returns the dialog in front, or else the page or the window.
func frontOf(s *desktop.Snapshot) *part {
	p := &part{Snapshot: s, top: -1, page: -1}
	visible := s.VisibleElements()
	for _, i := range s.Children(-1) {
		if e := &s.Elements[i]; visible[i] && (p.top < 0 || e.States.Has(desktop.Active) || e.IsDialog() || !s.Elements[p.top].States.Has(desktop.Active) && !s.Elements[p.top].IsDialog()) {
			p.top = i
		}
	}
	if p.top < 0 {
		return p
	}
	p.dialog = s.Elements[p.top].IsDialog() || len(s.Children(-1)) > 1 && s.Elements[p.top].States.Has(desktop.Modal)
	for i := p.top + 1; !p.dialog && i < s.Elements[p.top].End; i++ {
		if visible[i] && s.Elements[i].IsDialog() && !s.Elements[i].Frame.Empty() {
			p.top, p.dialog = i, true
		}
	}
	p.title = s.Elements[p.top].Name
	if !p.dialog && s.App.IsBrowser {
		p.findPage(visible)
	}
	p.sort(visible)
	return p
}

// findPage makes the largest visible document the part.
func (p *part) findPage(visible []bool) {
	best := 0
	for i := p.top + 1; i < p.Elements[p.top].End; i++ {
		if e := &p.Elements[i]; visible[i] && e.Role == desktop.Document && e.Frame.W*e.Frame.H > best {
			best, p.page = e.Frame.W*e.Frame.H, i
		}
	}
	if p.page >= 0 {
		p.top = p.page
		p.title += " " + p.Elements[p.page].Name
	}
}

// sort collects the visible elements of the part by their kinds.
func (p *part) sort(visible []bool) {
	for i := p.top; i < p.Elements[p.top].End; i++ {
		e := &p.Elements[i]
		if e.Identifier == fileChooserID {
			p.chooser = true
		}
		if !visible[i] {
			continue
		}
		p.size++
		name := strings.TrimSpace(e.Name)
		if e.States.Has(desktop.Busy) {
			p.busy = append(p.busy, i)
		}
		if p.isInBar(i) {
			continue
		}
		switch e.Role {
		case desktop.Button:
			if name != "" || e.Description != "" {
				p.buttons = append(p.buttons, i)
			}
		case desktop.Textbox, desktop.Spinbutton, desktop.Document:
			p.sortText(i)
		case desktop.Searchbox:
			p.searches, p.texts = append(p.searches, i), append(p.texts, i)
		case desktop.Search:
			p.searches = append(p.searches, i)
		case desktop.Combobox:
			if slices.ContainsFunc(p.Children(i), func(c int) bool { return p.Elements[c].Role == desktop.Textbox }) {
				p.texts = append(p.texts, i)
			} else {
				p.combos = append(p.combos, i)
			}
		case desktop.Checkbox, desktop.Switch, desktop.Radio, desktop.Slider:
			p.toggles = append(p.toggles, i)
		case desktop.Table, desktop.Grid, desktop.TreeView:
			p.lists = append(p.lists, i)
			if p.hasColumns(i, visible) {
				p.tables = append(p.tables, i)
			}
		case desktop.List, desktop.Listbox:
			p.lists = append(p.lists, i)
		case desktop.Progressbar:
			// Many windows keep a bar at its beginning while nothing runs.
			unused := !p.dialog && name == "" && e.Value == formatNumber(e.Min)
			if !unused && (e.Max <= e.Min || e.Value != formatNumber(e.Max)) {
				p.bars = append(p.bars, i)
			}
		case desktop.Heading:
			p.headings = append(p.headings, name)
		case desktop.Alert:
			p.alerts = append(p.alerts, p.textOf(i))
		case desktop.Text, desktop.Label, desktop.Paragraph, desktop.Image:
			p.messages = append(p.messages, name+" "+e.Description)
		}
	}
}

// sortText collects a field for text.
func (p *part) sortText(i int) {
	e := &p.Elements[i]
	switch {
	case e.States.Has(desktop.Protected):
		p.passwords = append(p.passwords, i)
	case !e.States.Has(desktop.Editable) || !e.States.Has(desktop.Enabled) && e.Role != desktop.Document || e.States.Has(desktop.ReadOnly):
	case e.Role == desktop.Document: // of an office program
		if slices.ContainsFunc(p.Children(i), func(c int) bool { return p.Elements[c].Role == desktop.Paragraph }) {
			p.multiline = append(p.multiline, i)
		}
	case e.States.Has(desktop.Multiline):
		p.multiline = append(p.multiline, i)
	default:
		p.texts = append(p.texts, i)
	}
}

// isInBar reports whether an element belongs to a bar of the window or to another element, and not to the content.
func (p *part) isInBar(i int) bool {
	for at := p.Elements[i].Parent; at > p.top; at = p.Elements[at].Parent {
		switch p.Elements[at].Role {
		case desktop.Toolbar, desktop.Menubar, desktop.Scrollbar, desktop.Combobox, desktop.Spinbutton, desktop.Table, desktop.TreeView:
			return true
		}
	}
	return false
}

// hasColumns reports whether a table has several columns.
func (p *part) hasColumns(i int, visible []bool) bool {
	headers := 0
	for at := i + 1; at < p.Elements[i].End; at++ {
		e := &p.Elements[at]
		if !visible[at] {
			continue
		}
		if e.Role == desktop.ColumnHeader {
			headers++
		}
		if e.Role == desktop.Row && len(p.Children(at)) > 1 {
			return true
		}
	}
	return headers > 1 || p.Elements[i].Role != desktop.TreeView && p.Elements[i].UnreadChildren > 0
}

// textOf returns the names in a part of the tree.
func (p *part) textOf(i int) string {
	var out []string
	for at := i; at < p.Elements[i].End; at++ {
		out = append(out, p.Elements[at].Name)
	}
	return strings.Join(out, " ")
}

// share returns how much of the part's area an element covers, from 0 to 1.
func (p *part) share(i int) float64 {
	whole, e := p.Elements[p.top].Frame, p.Elements[i].Frame.Intersect(p.Elements[p.top].Frame)
	if whole.Empty() {
		return 0
	}
	return float64(e.W*e.H) / float64(whole.W*whole.H)
}
