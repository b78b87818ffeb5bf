package render

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// text returns the line of a part, with its line break.
func (w *walker) text(p *part) string {
	var b strings.Builder
	b.WriteString(indent(p.depth))
	switch p.kind {
	case renderedPart:
		b.WriteString(w.context(p.first) + " …")
	case foldPart:
		b.WriteString(p.fold.text(w.model))
	case runPart:
		b.WriteString(w.element(p.first).Role.SafeName() + ": ")
		w.writeItems(&b, p.items, "")
	case linePart:
		w.writeElement(&b, p.first)
		if !w.options.Compact {
			w.writeValue(&b, p.first, " = ")
		}
		b.WriteString(": ")
		w.writeItems(&b, p.items, w.element(p.first).Role)
	case onePart:
		if f := w.nodes[p.first].frame; f != nil {
			b.WriteString(w.lead(p.first) + f.text(w.model))
			break
		}
		if w.isPlainText(p.first) {
			b.WriteString(w.title(p.first))
			w.writeRefAndStates(&b, p.first)
		} else {
			w.writeElement(&b, p.first)
		}
		if !w.options.Compact {
			w.writeContents(&b, p)
		}
	}
	b.WriteByte('\n')
	return b.String()
}

// writeElement writes an element's role, name, ref and states.
func (w *walker) writeElement(b *strings.Builder, c int) {
	b.WriteString(w.element(c).Role.SafeName())
	if name := w.title(c); name != "" {
		if w.options.Compact {
			b.WriteByte(':')
		} else {
			b.WriteByte(' ')
		}
		b.WriteString(name)
	}
	w.writeRefAndStates(b, c)
}

// isPlainText reports whether an entry is text that is shown without a role: a paragraph that contains
// nothing else.
func (w *walker) isPlainText(c int) bool {
	n := &w.nodes[c]
	return w.element(c).Role == desktop.Paragraph && !n.acts && w.isLeaf(c) && w.displayName(c) != "" && !w.options.Compact
}

// writeRefAndStates writes the ref and the states after an entry's name.
func (w *walker) writeRefAndStates(b *strings.Builder, c int) {
	n := &w.nodes[c]
	if n.hasRef && !n.framed || w.isTruncated(c) {
		b.WriteString(" [" + w.ref(n.elem) + "]")
	}
	if w.options.Compact {
		return
	}
	w.writeStates(b, c)
	if n.closed > 0 {
		b.WriteString(" (" + aai.Count(n.closed, "item") + " in closed menus)")
	}
}

// title returns an entry's name in quotes. For an actionable entry without a name it returns the
// description: in parentheses, or unquoted if it is the fallback name of an element without text, such as
// .trash.
func (w *walker) title(c int) string {
	n, e := &w.nodes[c], w.element(c)
	name := w.displayName(c)
	if n.framed { // the app's name precedes all of its content
		name = strings.TrimSuffix(name, " - "+aai.CleanLabel(w.snapshot.App.Name, w.detail.name))
	}
	switch {
	case name != "":
		return strconv.Quote(name)
	case !n.acts:
		return ""
	case isSign(e.Description):
		return e.Description
	}
	if about := aai.CleanLabel(e.Description, w.detail.name); about != "" {
		return "(" + strconv.Quote(about) + ")"
	}
	if e.Role == desktop.Generic || e.Role == desktop.Group {
		return ""
	}
	return `""`
}

// isSign reports whether a text is a fallback name: words of letters and digits with a dot in each, or a
// tag. It cannot be confused with a state or a ref.
func isSign(text string) bool {
	const longest = 50
	if text == "" || text[0] == ' ' || len(text) > longest {
		return false
	}
	for word := range strings.FieldsSeq(text) {
		tag := len(word) > 2 && word[0] == '<' && word[len(word)-1] == '>'
		if tag {
			word = word[1 : len(word)-1]
		}
		if !tag && !strings.Contains(word, ".") {
			return false
		}
		for _, r := range word {
			if !strings.ContainsRune("-._", r) && (r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r)) {
				return false
			}
		}
	}
	return true
}

// displayName returns an entry's shortened name, or its text unless its words are shown separately.
func (w *walker) displayName(c int) string {
	e := w.element(c)
	if w.nodes[c].titled || w.nodes[c].acts && w.nodes[c].mixed && !w.detail.terse() {
		return ""
	}
	if !e.Role.IsTextual() || w.nodes[c].acts {
		return aai.CleanLabel(e.Name, w.detail.name)
	}
	if w.nodes[c].mixed && (e.Role != desktop.Heading || !w.detail.terse()) {
		return ""
	}
	return aai.CleanLabel(words(e), max(w.detail.text, w.detail.name))
}

// words returns the text of a textual element.
func words(e *desktop.Element) string {
	if desktop.IsBlank(e.Name) && !e.States.Has(desktop.Protected) {
		return e.Value
	}
	return e.Name
}

// isTruncated reports whether an entry is a truncated text. Its ref gives access to the complete text.
func (w *walker) isTruncated(c int) bool {
	e := w.element(c)
	return w.options.Ref != nil && e.Role.IsTextual() && !w.nodes[c].mixed && len(words(e)) > max(w.detail.text, w.detail.name)
}

// writeContents writes an element's value, its number of items, and its description.
func (w *walker) writeContents(b *strings.Builder, p *part) {
	e := w.element(p.first)
	if size := w.itemCount(p.first); size > 0 {
		b.WriteString(" " + aai.Count(size, "item"))
	}
	if e.UnreadChildren > 0 {
		fmt.Fprintf(b, " (%d not read)", e.UnreadChildren)
	}
	w.writeValue(b, p.first, ": ")
	if w.detail.description {
		if e.Description != "" && e.Description != e.Name && (!w.nodes[p.first].acts || !desktop.IsBlank(e.Name)) {
			b.WriteString(" (" + desktop.Quote(e.Description, 80) + ")")
		}
		if e.Identifier != "" && e.Description == "" && desktop.IsBlank(e.Name) && w.nodes[p.first].acts {
			b.WriteString(" id " + desktop.Quote(e.Identifier, 40))
		}
	}
	if p.tooDeep > 0 {
		b.WriteString(" (" + aai.Count(p.tooDeep, "element") + " inside)")
	}
}

// writeValue writes the number of an element, or its text preceded by sign.
func (w *walker) writeValue(b *strings.Builder, c int, sign string) {
	e := w.element(c)
	if e.Min != e.Max {
		w.writeNumber(b, e)
	} else if value := w.value(e); value != "" {
		b.WriteString(sign + value)
	}
}

// writeNumber writes a number with its bounds.
func (w *walker) writeNumber(b *strings.Builder, e *desktop.Element) {
	value := aai.CleanLabel(e.Value, 20)
	if _, err := strconv.ParseFloat(value, 64); err != nil {
		value = strconv.Quote(value)
	}
	fmt.Fprintf(b, " %s (%s..%s)", value, shortNumber(e.Min), shortNumber(e.Max))
}

func shortNumber(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// value returns an element's quoted value, or "" if it is not shown.
func (w *walker) value(e *desktop.Element) string {
	switch {
	case w.detail.value == 0:
		return ""
	case e.States.Has(desktop.Protected):
		return "****"
	case desktop.IsBlank(e.Value) || !e.States.Has(desktop.Editable) && (e.Value == e.Name || e.Role.IsTextual() && desktop.IsBlank(e.Name)):
		return "" // shown as the element's text instead
	}
	return desktop.Quote(e.Value, w.detail.value)
}

// itemCount returns the number of items of a list or table that does not show all of them.
func (w *walker) itemCount(c int) int {
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

// writeStates writes the reported states.
func (w *walker) writeStates(b *strings.Builder, c int) {
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
	write("focused", has(desktop.Focused) && !n.titled)
	write("checked", has(desktop.Checked))
	write("unchecked", e.Role == desktop.Cell && has(desktop.Checkable) && !has(desktop.Checked))
	write("mixed", has(desktop.Mixed))
	write("pressed", has(desktop.Pressed))
	write("selected", has(desktop.Selected))
	write("expanded", has(desktop.Expanded) && e.Role != desktop.Combobox)
	write("collapsed", has(desktop.Expandable) && !has(desktop.Expanded) && n.acts && e.Role != desktop.Combobox && e.Role != desktop.Menu)
	write("readonly", has(desktop.ReadOnly) && (e.Role == desktop.Textbox || e.Role == desktop.Searchbox || e.Role == desktop.Spinbutton))
	write("editable", has(desktop.Editable) && n.acts && !e.Role.IsInteractive())
	write("multiline", has(desktop.Multiline) && n.acts)
	write("password", has(desktop.Protected))
	write("required", has(desktop.Required))
	write("invalid", has(desktop.Invalid))
	write("busy", has(desktop.Busy))
	write("default", has(desktop.Default) && e.Role == desktop.Button)
	write("haspopup", has(desktop.HasPopup) && e.Role == desktop.Button)
	write("placed", has(desktop.Placed))
}

// implied reports whether a role is the expected one inside another role.
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

// writeItems writes several elements on a line. It omits a role that all share or that is expected inside
// the parent element.
func (w *walker) writeItems(b *strings.Builder, items []int, in desktop.Role) {
	all := true
	for _, c := range items {
		all = all && (in == "" || implied(w.element(c).Role, in))
	}
	for i := 0; i < len(items); i++ {
		if i > 0 {
			b.WriteString(", ")
		}
		c := items[i]
		if text, last := w.joinText(items, i); last > i {
			b.WriteString(strconv.Quote(text))
			i = last
			continue
		}
		e := w.element(c)
		if all || !w.nodes[c].hasRef && implied(e.Role, in) {
			w.writeItem(b, c)
		} else {
			w.writeElement(b, c)
		}
		if value := w.value(e); value != "" && !w.options.Compact {
			b.WriteString(" = " + value)
		}
	}
}

// joinText joins adjacent parts of a text, from one item to the last of them.
func (w *walker) joinText(items []int, first int) (text string, last int) {
	for last = first; last < len(items); last++ {
		c := items[last]
		n := &w.nodes[c]
		if n.parent < 0 || !w.nodes[n.parent].mixed || n.hasRef || w.isTruncated(c) || n.end != c+1 {
			break
		}
		text += " " + w.displayName(c)
	}
	return strings.TrimSpace(text), last - 1
}

// writeItem writes an element without its role. The ref comes first, so that the word after it can only be
// its name.
func (w *walker) writeItem(b *strings.Builder, c int) {
	n := &w.nodes[c]
	name := w.displayName(c)
	switch {
	case w.isTruncated(c):
		b.WriteString("[" + w.ref(n.elem) + "] " + strconv.Quote(name))
	case !n.hasRef:
		b.WriteString(strconv.Quote(name))
	case name == "":
		b.WriteString("[" + w.ref(n.elem) + "] " + w.title(c))
	case oneWord(name):
		b.WriteString("[" + w.ref(n.elem) + "] " + name)
	default:
		b.WriteString("[" + w.ref(n.elem) + "] " + strconv.Quote(name))
	}
	if !w.options.Compact {
		w.writeStates(b, c)
	}
}

// oneWord reports whether a name needs no quotes: letters and digits that do not look like a state.
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
