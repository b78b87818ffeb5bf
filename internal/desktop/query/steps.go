package query

import (
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// find evaluates the path's steps.
func (p *path) find(f *finder, hidden bool) []int {
	n := len(f.s.Elements)
	here := make([]bool, n+1) // by index; the last entry stands for the root
	here[n] = true
	var found []int
	for _, s := range p.steps {
		found = nil
		next := make([]bool, n+1)
		f.parents(here, s.deep, func(parent int) {
			for _, i := range s.take(f, f.children(parent), hidden) {
				next[i] = true
			}
		})
		for i := f.from; i < f.to; i++ {
			if next[i] {
				found = append(found, i)
			}
		}
		here = next
	}
	for _, condition := range p.filters {
		found = condition.filter(f, found)
	}
	return found
}

// parents visits each element that the step takes children of: the marked ones, and for a deep step also
// their descendants.
func (f *finder) parents(here []bool, deep bool, visit func(int)) {
	n := len(f.s.Elements)
	within := make([]bool, n+1)
	within[n] = here[n]
	if within[n] {
		visit(n)
	}
	for i := f.from; i < f.to; i++ {
		parent := f.s.Elements[i].Parent
		if parent < 0 || i == f.from {
			parent = n
		}
		within[i] = here[i] || deep && within[parent]
		if within[i] {
			visit(i)
		}
	}
}

// children returns an element's children. For the index after the last element these are the windows, or
// the root of the search.
func (f *finder) children(i int) []int {
	switch {
	case i < len(f.s.Elements):
		return f.s.Children(i)
	case f.root >= 0 && f.from < f.to:
		return []int{f.root}
	case f.root >= 0:
		return nil
	}
	return f.s.Children(-1)
}

// take returns those of the children that match the step.
func (s *step) take(f *finder, children []int, hidden bool) []int {
	fit := children[:0]
	for _, i := range children {
		if (hidden || f.visible[i]) && (s.role == nil || s.role.matches(&f.s.Elements[i])) {
			fit = append(fit, i)
		}
	}
	for _, p := range s.predicates {
		fit = p.filter(f, fit)
	}
	return fit
}

// filter returns the elements that satisfy the predicate; a position counts among them.
func (p *predicate) filter(f *finder, elements []int) []int {
	switch p.operator {
	case "number":
		if p.number > len(elements) {
			return nil
		}
		return elements[p.number-1 : p.number]
	case "last":
		return elements[max(0, len(elements)-1):]
	}
	var fit []int
	for _, i := range elements {
		if p.matches(&f.s.Elements[i]) {
			fit = append(fit, i)
		}
	}
	return fit
}

func (p *predicate) matches(e *desktop.Element) bool {
	switch p.operator {
	case "and":
		for _, part := range p.parts {
			if !part.matches(e) {
				return false
			}
		}
		return true
	case "or":
		for _, part := range p.parts {
			if part.matches(e) {
				return true
			}
		}
		return false
	case "not":
		return !p.parts[0].matches(e)
	}
	got := p.attribute.of(e)
	switch p.operator {
	case "exists":
		return got != ""
	case "contains":
		return strings.Contains(got, p.text)
	case "starts-with":
		return strings.HasPrefix(got, p.text)
	}
	equal := got == p.text
	if p.role != nil {
		equal = p.role.matches(e)
	}
	return equal == (p.operator == "=")
}

// roleNames lists all roles.
const roleNames = "window dialog alertdialog alert status tooltip button checkbox radio switch textbox searchbox spinbutton slider " +
	"scrollbar progressbar meter combobox link menubar menu menuitem menuitemcheckbox menuitemradio tablist tab tabpanel list " +
	"listitem listbox option tree treeitem table grid row cell columnheader rowheader text label heading paragraph image document " +
	"article blockquote code figure form region navigation main banner contentinfo search group radiogroup toolbar separator " +
	"canvas terminal generic"

// otherRoleNames lists the role names of macOS (without AX), GTK, Qt and HTML: the word, our roles, and
// after a plus sign the required state. Words that are also our roles appear only in their macOS form, such
// as axcheckbox.
const otherRoleNames = `
axbutton=button axcheckbox=checkbox,switch axradiobutton=radio radiobutton=radio axtextfield=textbox,searchbox
textfield=textbox,searchbox axsearchfield=searchbox searchfield=searchbox axsecuretextfield=textbox+password
securetextfield=textbox+password axtextarea=textbox+multiline textarea=textbox+multiline axpopupbutton=combobox
popupbutton=combobox axmenubutton=button+haspopup menubutton=button+haspopup axcombobox=combobox
axmenuitem=menuitem,menuitemcheckbox,menuitemradio axmenubar=menubar axmenu=menu axstatictext=text,label,paragraph
statictext=text,label,paragraph axwindow=window,dialog,alertdialog axsheet=dialog,alertdialog sheet=dialog,alertdialog
axdialog=dialog,alertdialog axgroup=group,generic,region,form axscrollarea=group,generic,region scrollarea=group,generic,region
axtable=table,grid axrow=row,treeitem,listitem axcell=cell,columnheader,rowheader axoutline=tree outline=tree
axlist=list,listbox axbrowser=tree axcolumn=columnheader aximage=image img=image axlink=link axslider=slider
axincrementor=spinbutton incrementor=spinbutton axstepper=spinbutton stepper=spinbutton axtabgroup=tablist tabgroup=tablist
axtabbutton=tab tabbutton=tab axtoolbar=toolbar axsplitgroup=group,generic splitgroup=group,generic axsplitter=separator
splitter=separator axprogressindicator=progressbar progressindicator=progressbar axlevelindicator=meter levelindicator=meter
axheading=heading axwebarea=document webarea=document axscrollbar=scrollbar axradiogroup=radiogroup axtextbox=textbox
pushbutton=button togglebutton=button+checkable password=textbox+password entry=textbox pagetab=tab dropdown=combobox
treeview=tree tableview=table listview=list,listbox hyperlink=link`

// A roleTest tests for a role of a query.
type roleTest struct {
	word  string // as in the tables
	roles []desktop.Role
	state desktop.State
}

func (t *roleTest) matches(e *desktop.Element) bool {
	return slices.Contains(t.roles, e.Role) && e.States.Has(t.state)
}

// plainWord normalizes the spelling of a role: Menu-Item becomes menuitem.
func plainWord(word string) string {
	return strings.NewReplacer(" ", "", "-", "", "_", "").Replace(strings.ToLower(word))
}

// lookUpRole finds a role by a word of the tables, ignoring case. The word menuitem means all roles of menu
// items: in a menu, people do not tell apart those with a check mark.
func lookUpRole(word string) (*roleTest, bool) {
	word = plainWord(word)
	if word == string(desktop.MenuItem) {
		return &roleTest{word: word, roles: []desktop.Role{desktop.MenuItem, desktop.MenuCheckbox, desktop.MenuRadio}}, true
	}
	if slices.Contains(strings.Fields(roleNames), word) {
		return &roleTest{word: word, roles: []desktop.Role{desktop.Role(word)}}, true
	}
	for _, line := range strings.Fields(otherRoleNames) {
		name, meaning, _ := strings.Cut(line, "=")
		if name != word {
			continue
		}
		names, state, _ := strings.Cut(meaning, "+")
		t := &roleTest{word: word, state: desktop.ParseState(state)}
		for name := range strings.SplitSeq(names, ",") {
			t.roles = append(t.roles, desktop.Role(name))
		}
		return t, true
	}
	return nil, false
}

// HasRole reports whether the element has the role that the word names in a query, such as button,
// AXButton or push-button.
func HasRole(e *desktop.Element, word string) bool {
	test, known := lookUpRole(word)
	return known && test.matches(e)
}

// nearRoles returns the role names most similar to the word.
func nearRoles(word string) []string {
	names := strings.Fields(roleNames)
	for _, line := range strings.Fields(otherRoleNames) {
		if name, _, _ := strings.Cut(line, "="); !strings.HasPrefix(name, "ax") {
			names = append(names, name)
		}
	}
	return aai.Nearest(plainWord(word), names, 5)
}

// bareEnd returns the end of an unquoted value: one word, or all text until the next term, an operator
// before a term, the closing parenthesis of the group, or the end. So title:Cut and paste has one value,
// and title:Cut and role:button has two terms.
func (p *termParser) bareEnd(oneWord bool) int {
	open := 0
	for i := p.at; i < len(p.text); i++ {
		c := p.text[i]
		switch {
		case c == '(':
			open++
		case c == ')' && open > 0:
			open--
		case c == ')' && p.depth > 0:
			return i
		case isSpace(c) && oneWord:
			return i
		}
		if (i == p.at || isSpace(p.text[i-1])) && endsValue(p.text[i:]) {
			return i
		}
	}
	return len(p.text)
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// endsValue reports whether an unquoted value ends before this text, which stands at the beginning of a
// word.
func endsValue(text string) bool {
	if a, _, _ := tightKeyAt(text); a != "" || strings.HasPrefix(text, "&&") || strings.HasPrefix(text, "||") {
		return true
	}
	n := max(operatorAt(text, "and", "&&"), operatorAt(text, "or", "||"))
	if n == 0 {
		return false
	}
	_, _, key := tightKeyAt(strings.TrimLeft(text[n:], " \t\r\n("))
	return key > 0
}
