// Package render formats a snapshot so that it fits a model's context: as text ([Text]) or for programs
// ([JSON]).
package render

import (
	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// Options select the part of a snapshot to render, and its extent.
type Options struct {
	// Budget is the maximum number of tokens of the page as [sanitize.EstimateTokens] counts; 0 means
	// DefaultBudget, values below MinBudget are errors.
	Budget int
	Root   int    // the element to render with its descendants; -1 for all windows
	After  string // Page.More of the page before; "" for the first page
	Hidden bool   // include hidden elements
	// MaxDepth is the number of levels below the root; 0 means all.
	MaxDepth int
	Compact  bool // role and name only
	// Ref returns an element's name for later calls. It is called once per element that gets a ref, usually
	// in the order of the snapshot. If nil, these elements are numbered within the root from e1 on.
	Ref func(i int) string
}

// The budgets of outlines, in tokens.
const (
	DefaultBudget = 1500
	MinBudget     = 300 // enough for one element with long names and its context
)

// A Page is the part of an outline that fits the budget.
type Page struct {
	Text   string
	Tokens int // as [sanitize.EstimateTokens] counts
	// Shown and Total count the actionable elements: those that this page shows or tells how to address,
	// and all of them under the root.
	Shown, Total int
	More         string // value of Options.After for the next page; "" on the last page
	// Offscreen summarizes elements that are only scrolled out of view and follow on later pages: "186
	// paragraph, 1 button". It is "" on those pages.
	Offscreen string
	Warnings  []string
}

// Text renders a snapshot as text for people and models: a line for each element, indented by two spaces a
// level, with its role, its name in quotes, its ref in brackets, its states, and its content after a colon.
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
// Neighbours of one role share a line. An unquoted word after a ref is a name of one word; "=" in a line of
// several elements precedes a value. A field that is "placed" has the name of a label beside or above it, to
// which only its place relates it. A text on a line of its own without a role is a paragraph. A browser's
// window shows the address, the page's own title, and directly the page if there is nothing else. Layout is
// omitted, and so are texts that only repeat the name next to them. A dialog in front of everything else
// comes first. Similar rows after the third are folded into one line that says how to address each: the
// refs of elements in neighbouring rows are consecutive.
//
// To fit the budget, Text first drops descriptions, then texts, then values; only then it cuts the outline
// into pages. Names and values are cleaned and quoted, so that none can imitate a line or a ref. They are
// still content of the app, and [desktop.Fence] marks them as such. Off-screen elements, which would show
// after scrolling, follow on separate pages after all showing ones.
//
// Text fails with INVALID_PARAMS for a Budget under MinBudget, a Root outside of the snapshot, and an After
// that matches no position in it. It is safe for concurrent use if o.Ref is.
func Text(s *desktop.Snapshot, o Options) (Page, error) {
	_, page, err := renderPage(s, o, textForm)
	return page, err
}

// JSON is Text as a *Tree, for programs: it includes frames, actions and identifiers, and no elements share
// a line. Page.Text is the JSON itself, and its size counts for the budget.
func JSON(s *desktop.Snapshot, o Options) (any, Page, error) {
	tree, page, err := renderPage(s, o, jsonForm)
	if err != nil {
		return nil, page, err
	}
	return tree, page, nil
}

// A Rendered is an element that an outline mentions.
type Rendered struct {
	Index      int
	Actionable bool // people operate it
}

// Elements returns the elements that an outline of element i mentions: the element and its meaningful descendants, in
// the order of the snapshot. The first is element i itself.
func Elements(s *desktop.Snapshot, i int) []Rendered {
	k := newModel(s, Options{Root: i}, jsonForm)
	told := make([]Rendered, len(k.nodes))
	for n := range k.nodes {
		told[n] = Rendered{k.nodes[n].elem, k.nodes[n].acts}
	}
	return told
}

// A form is an output format of an outline.
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

// A detail is a level of detail of an outline.
type detail struct {
	name, value, text int  // maximum lengths in bytes; 0 omits them
	description       bool // include descriptions, and identifiers of actionable elements without name and description
	fold              int  // minimum number of similar rows to fold
	headings          bool // include headings even if texts are omitted
	line              int  // maximum bytes of several elements on one line
}

// details returns the levels of detail, from the fullest to the tersest.
func details() [5]detail {
	return [...]detail{
		{name: 80, value: 80, text: 300, description: true, fold: 25, headings: true, line: 240},
		{name: 80, value: 60, text: 120, fold: 12, headings: true, line: 240},
		{name: 60, value: 60, text: 60, fold: 8, headings: true, line: 240},
		{name: 60, value: 40, fold: 8, headings: true, line: 240},
		{name: 40, fold: 8, line: 120},
	}
}

// terse reports whether texts are omitted.
func (d *detail) terse() bool { return d.text == 0 }
