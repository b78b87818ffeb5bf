// Package outline tells what a snapshot shows so that it fits a model's context: as
// text ([Text]) or for programs ([JSON]).
package render

import (
	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// Options say what of a snapshot is outlined, and how much of it.
type Options struct {
	// Budget is how many tokens the page may have as [tokens.Estimate] counts; 0 means
	// DefaultBudget, less than MinBudget is refused.
	Budget int
	Root   int    // the element to outline with what is in it; -1 for all windows
	After  string // Page.More of the page before; "" for the first page
	Hidden bool   // also what is not showing
	// MaxDepth is how many levels below the root are outlined; 0 means all.
	MaxDepth int
	Compact  bool // role and name only
	// Ref names an element for later calls. It is called once for each element
	// that gets a ref, as a rule in the order of the snapshot. Without it, what
	// has a ref is numbered within the root from e1 on.
	Ref func(i int) string
}

// The budgets of outlines, in tokens.
const (
	DefaultBudget = 1500
	MinBudget     = 300 // one element with long names and what is around it
)

// A Page is as much of an outline as fits the budget.
type Page struct {
	Text   string
	Tokens int // as [tokens.Estimate] counts
	// Shown and Total count the elements that people do something with: those
	// that this page shows or says how to address, and all of them under the root.
	Shown, Total int
	More         string // goes into Options.After for what follows; "" when this was all
	// Offscreen says what is only scrolled out of view and in the pages behind all that shows:
	// "186 paragraph, 1 button". It is "" on those pages.
	Offscreen string
	Warnings  []string
}

// Text tells what a snapshot shows, as text for people and models: a line for
// each element, indented by two spaces a level, with its role, its name in
// quotes, its ref in brackets, its states, and after a colon what it holds.
//
//	window "notes.txt" [e1] active
//	  menubar: [e2] File, [e3] Edit
//	  textbox "" [e9] focused multiline: "Hello"
//	  slider "Volume" [e14] 40 (0..100)
//	  list "Fruits" [e15] 40 items
//	    option: [e16] Apple, [e17] Pear, [e18] Plum
//	    … 36 more option: [e19]–[e54] "Fig" … "Kiwi"
//	    option "Quince" [e55]
//	  row: "Ada", "36", button "Edit" [e56], button "Delete" [e57]
//	  … 90 more row, k=0–89: button "Edit" [e58+2k], button "Delete" [e59+2k]; "Bo" … "Zoe"
//
// Neighbours of one role share a line. A word without quotes after a ref is a
// name of one word; after "=" in a line of several elements stands a value.
// A text on a line of its own without a role is a paragraph. Of a browser's window the
// address is told, the page's own title, and its page at once where it shows nothing else.
// Layout is left out, and so are words that only repeat the name next to them.
// A dialog in front of all else comes before all else.
// Rows after the third that are made alike are told in one line, which says how
// each is addressed: the refs of elements in neighbouring rows are consecutive.
//
// What does not fit the budget is made terse first: descriptions go, then texts,
// then values; only then is the outline cut in pages. Names and values are
// cleaned and quoted, so that none can pass for a line or a ref; they are still
// what the app says, and [desktop.Fence] marks them as such.
//
// What is out of view, and would show if it were scrolled to, comes on pages of its own
// after all that shows.
//
// A budget under MinBudget, a Root that is not in the snapshot and an After that
// belongs to no place in it fail with INVALID_PARAMS. It is safe for concurrent
// use if o.Ref is.
func Text(s *desktop.Snapshot, o Options) (Page, error) {
	_, page, err := renderPage(s, o, textForm)
	return page, err
}

// JSON is Text as a *Tree, for programs: frames, actions and identifiers are there,
// nothing shares a line. Page.Text is the JSON itself, and its size is what the
// budget bounds.
func JSON(s *desktop.Snapshot, o Options) (any, Page, error) {
	tree, page, err := renderPage(s, o, jsonForm)
	if err != nil {
		return nil, page, err
	}
	return tree, page, nil
}

// A Told is an element that an outline has words about.
type Rendered struct {
	Index      int
	Actionable bool // people do something with it
}

// Elements returns what an outline of the element tells of: the element and all in it
// that means something to people, in the order of the snapshot.
func Elements(s *desktop.Snapshot, i int) []Rendered {
	k := newModel(s, Options{Root: i}, jsonForm)
	told := make([]Rendered, len(k.nodes))
	for n := range k.nodes {
		told[n] = Rendered{k.nodes[n].elem, k.nodes[n].acts}
	}
	return told
}

// A form is how an outline is written down.
type form int

const (
	textForm form = iota
	jsonForm
)

func renderPage(s *desktop.Snapshot, o Options, as form) (*Tree, Page, error) {
	if o.Budget == 0 {
		o.Budget = DefaultBudget
	}
	if o.Budget < MinBudget {
		e := aai.Errorf(aai.InvalidParams, "budget_tokens: got %d tokens, expected at least %d", o.Budget, MinBudget)
		e.Hint = "Give more budget_tokens, or in root the ref of an element to begin at."
		return nil, Page{}, e
	}
	if o.Root < -1 || o.Root >= len(s.Elements) {
		e := aai.Errorf(aai.InvalidParams, "root: there is no element %d among %d", o.Root, len(s.Elements))
		e.Hint = "Leave out root: the outline is of the whole app."
		return nil, Page{}, e
	}
	s, o = dialogFirst(s, o)
	k := newModel(s, o, as)
	if o.Ref == nil {
		k.assignRefs()
	}
	from := k.first
	if o.After != "" {
		var err error
		if from, err = k.resume(o.After); err != nil {
			return nil, Page{}, err
		}
	}
	p := &pager{model: k, budget: o.Budget, total: k.total(), from: from, as: as}
	tree, page, err := p.page()
	if err != nil {
		return nil, Page{}, err
	}
	page.Total = p.total
	if k.hasOffscreen {
		o.After = offscreenMark
		if b := newModel(s, o, as); b.total() > 0 || b.outermost() >= 0 {
			page.Offscreen = b.kinds()
			if page.More == "" {
				page.More = b.cursor(b.nodes[b.outermost()].elem)
			}
		}
	}
	page.Warnings = append(page.Warnings, s.Warnings...)
	return tree, page, nil
}

// A detail is how much is told of each element.
type detail struct {
	name, value, text int  // how many bytes of them; 0 leaves them out
	description       bool // also identifiers of what has a name, and actions
	fold              int  // how many rows alike are told in one line
	headings          bool // also where texts are left out
	line              int  // how many bytes several elements on one line may have
}

// details are the ways to tell it, from the fullest to the tersest.
func details() [5]detail {
	return [...]detail{
		{name: 80, value: 80, text: 300, description: true, fold: 25, headings: true, line: 240},
		{name: 80, value: 60, text: 120, fold: 12, headings: true, line: 240},
		{name: 60, value: 60, text: 60, fold: 8, headings: true, line: 240},
		{name: 60, value: 40, fold: 8, headings: true, line: 240},
		{name: 40, fold: 8, line: 120},
	}
}

// terse reports whether texts are left out.
func (d *detail) terse() bool { return d.text == 0 }
