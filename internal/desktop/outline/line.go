package outline

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"aai"
	"aai/internal/desktop"
)

// text is the line of a part, with its line break.
func (w *walker) text(p *part) string {
	var b strings.Builder
	b.WriteString(indent(p.depth))
	switch p.kind {
	case foldPart:
		b.WriteString(p.fold.text(w.sketch))
	case runPart:
		b.WriteString(w.element(p.first).Role.Word() + ": ")
		w.items(&b, p.items, "")
	case linePart:
		w.own(&b, p.first)
		b.WriteString(": ")
		w.items(&b, p.items, w.element(p.first).Role)
	case onePart:
		w.own(&b, p.first)
		if !w.options.Compact {
			w.holding(&b, p)
		}
		if f := w.nodes[p.first].frame; f != nil {
			b.WriteString(f.text(w.sketch))
		}
	}
	b.WriteByte('\n')
	return b.String()
}

// own writes what an element is: role, name, ref and states.
func (w *walker) own(b *strings.Builder, c int) {
	n, e := &w.nodes[c], w.element(c)
	b.WriteString(e.Role.Word())
	if name := w.called(c); name != "" || n.acts {
		if w.options.Compact {
			b.WriteByte(':')
		} else {
			b.WriteByte(' ')
		}
		b.WriteString(strconv.Quote(name))
	}
	if n.hasRef {
		b.WriteString(" [" + w.ref(n.elem) + "]")
	}
	if w.options.Compact {
		return
	}
	w.states(b, c)
	if n.closed > 0 {
		fmt.Fprintf(b, " (%d items in closed menus)", n.closed)
	}
}

// called is what a node is called, as far as it is shown: its name, or the words
// that it consists of.
func (w *walker) called(c int) string {
	e := w.element(c)
	if !e.Role.Wordy() || w.nodes[c].acts {
		return aai.CleanLabel(e.Name, w.detail.name)
	}
	words := e.Name
	if desktop.Blank(words) && !e.States.Has(desktop.Protected) {
		words = e.Value
	}
	return aai.CleanLabel(words, max(w.detail.text, w.detail.name))
}

// holding writes what an element holds: its value, how many items, what is said
// about it.
func (w *walker) holding(b *strings.Builder, p *part) {
	e := w.element(p.first)
	if size := w.size(p.first); size > 0 {
		fmt.Fprintf(b, " %d items", size)
	}
	if e.Unread > 0 {
		fmt.Fprintf(b, " (%d not read)", e.Unread)
	}
	if e.Min != e.Max {
		w.number(b, e)
	} else if value := w.value(e); value != "" {
		b.WriteString(": " + value)
	}
	if w.detail.description {
		if e.Description != "" && e.Description != e.Name {
			b.WriteString(" (" + desktop.Quote(e.Description, 80) + ")")
		}
		if e.Identifier != "" && desktop.Blank(e.Name) && w.nodes[p.first].acts {
			b.WriteString(" id " + desktop.Quote(e.Identifier, 40))
		}
	}
	if p.left > 0 {
		fmt.Fprintf(b, " (%d elements inside)", p.left)
	}
}

// number writes a number within bounds, as it is.
func (w *walker) number(b *strings.Builder, e *desktop.Element) {
	value := aai.CleanLabel(e.Value, 20)
	if _, err := strconv.ParseFloat(value, 64); err != nil {
		value = strconv.Quote(value)
	}
	fmt.Fprintf(b, " %s (%s..%s)", value, shortNumber(e.Min), shortNumber(e.Max))
}

func shortNumber(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// value is what an element holds, quoted, or "" where that is not shown.
func (w *walker) value(e *desktop.Element) string {
	switch {
	case w.detail.value == 0:
		return ""
	case e.States.Has(desktop.Protected):
		return "****"
	case desktop.Blank(e.Value) || e.Value == e.Name || e.Role.Wordy() && desktop.Blank(e.Name):
		return ""
	}
	return desktop.Quote(e.Value, w.detail.value)
}

// size is how many items a list or table has, where they are not seen at once.
func (w *walker) size(c int) int {
	if !w.nodes[c].hasRef || w.nodes[c].acts {
		return 0
	}
	items, size := 0, 0
	for i := c + 1; i < w.nodes[c].end; i = w.nodes[i].end {
		if e := w.element(i); folds(e.Role) {
			items++
			size = max(size, e.Size)
		}
	}
	if items == 0 || max(items, size) < 8 {
		return 0
	}
	return max(items, size)
}

// states writes the states worth a word.
func (w *walker) states(b *strings.Builder, c int) {
	n, e := &w.nodes[c], w.element(c)
	write := func(word string, is bool) {
		if is {
			b.WriteString(" " + word)
		}
	}
	has := e.States.Has
	write("hidden", n.hidden)
	write("active", has(desktop.Active) && n.parent < 0)
	write("modal", has(desktop.Modal))
	write("disabled", n.acts && !has(desktop.Enabled))
	write("focused", has(desktop.Focused))
	write("checked", has(desktop.Checked))
	write("mixed", has(desktop.Mixed))
	write("pressed", has(desktop.Pressed))
	write("selected", has(desktop.Selected))
	write("expanded", has(desktop.Expanded) && e.Role != desktop.Combobox)
	write("collapsed", has(desktop.Expandable) && !has(desktop.Expanded) && n.acts && e.Role != desktop.Combobox && e.Role != desktop.Menu)
	write("readonly", has(desktop.ReadOnly) && (e.Role == desktop.Textbox || e.Role == desktop.Searchbox || e.Role == desktop.Spinbutton))
	write("multiline", has(desktop.Multiline) && n.acts)
	write("password", has(desktop.Protected))
	write("required", has(desktop.Required))
	write("invalid", has(desktop.Invalid))
	write("busy", has(desktop.Busy))
	write("default", has(desktop.Default) && e.Role == desktop.Button)
	write("haspopup", has(desktop.HasPopup) && e.Role == desktop.Button)
}

// implied reports whether a role is what everybody expects in another.
func implied(role, in desktop.Role) bool {
	switch in {
	case desktop.Menubar:
		return role == desktop.Menu || role == desktop.MenuItem
	case desktop.Tablist:
		return role == desktop.Tab
	case desktop.Radiogroup:
		return role == desktop.Radio
	case desktop.Row:
		return role == desktop.Cell || role == desktop.RowHeader || role == desktop.ColumnHeader || role == desktop.Text || role == desktop.Label
	}
	return role == desktop.Text || role == desktop.Label
}

// items writes several elements on a line, which say their role unless it is
// that of all of them or the one expected in the element that they are in.
func (w *walker) items(b *strings.Builder, items []int, in desktop.Role) {
	all := true
	for _, c := range items {
		all = all && (in == "" || implied(w.element(c).Role, in))
	}
	for i, c := range items {
		if i > 0 {
			b.WriteString(", ")
		}
		e := w.element(c)
		if all || !w.nodes[c].hasRef && implied(e.Role, in) {
			w.item(b, c)
		} else {
			w.own(b, c)
		}
		if value := w.value(e); value != "" && !w.options.Compact {
			b.WriteString(" = " + value)
		}
	}
}

// item writes an element whose role goes without saying. Its ref is in front, so
// that the word after it can only be its name.
func (w *walker) item(b *strings.Builder, c int) {
	n := &w.nodes[c]
	name := w.called(c)
	switch {
	case !n.hasRef:
		b.WriteString(strconv.Quote(name))
	case oneWord(name):
		b.WriteString("[" + w.ref(n.elem) + "] " + name)
	default:
		b.WriteString("[" + w.ref(n.elem) + "] " + strconv.Quote(name))
	}
	if !w.options.Compact {
		w.states(b, c)
	}
}

// oneWord reports whether a name needs no quotes: letters and digits that do not
// look like a state.
func oneWord(name string) bool {
	first, _ := utf8.DecodeRuneInString(name)
	if name == "" || !unicode.IsUpper(first) && !unicode.IsDigit(first) {
		return false
	}
	for _, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return false
		}
	}
	return true
}
