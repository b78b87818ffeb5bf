package render

import (
	"fmt"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// A pager fills a page with parts of a sketch, in the richest detail that fits.
type pager struct {
	*model
	budget int
	total  int // how many elements of the sketch act
	from   int // the element to begin with
	as     form
}

// A drawn part is one that is written down, with its cost in thousandths of a
// token.
type drawn struct {
	part
	line   string   // textForm
	object *Element // jsonForm
	cost   int
}

// An attempt is a page in one detail.
type attempt struct {
	w        *walker
	parts    []drawn
	next     int // the element that the next page begins with; -1 if there is none
	omits    string
	tree     *Tree
	text     string
	complete bool
}

// page takes the first detail in which everything fits, or else the first in
// which all that acts fits so that only words are left for the next page, or else
// the tersest. Of what is out of view it is the fullest: who goes on there reads.
func (p *pager) page() (*Tree, Page, error) {
	remaining := 0
	for i := range p.nodes {
		if p.nodes[i].acts && p.nodes[i].elem >= p.from {
			remaining++
		}
	}
	var a *attempt
	for _, d := range details() {
		a = p.attempt(&d)
		if a.complete || p.offscreen || len(a.parts) > 0 && a.acting() == remaining {
			break
		}
	}
	if len(a.parts) == 0 && a.next >= 0 {
		e := aai.Errorf(aai.InvalidParams, "budget_tokens: not even one element fits %d tokens", p.budget)
		e.Hint = "Give more budget_tokens."
		return nil, Page{}, e
	}
	page := Page{Text: a.text, Tokens: sanitize.Estimate(a.text), Shown: a.acting()}
	if a.next >= 0 {
		page.More = p.cursor(a.next)
	}
	if a.omits != "" {
		page.Warnings = append(page.Warnings, a.omits+" left out to fit the budget: outline a part by its ref, or allow more tokens")
	}
	return a.tree, page, nil
}

func (a *attempt) acting() int {
	acting := 0
	for i := range a.parts {
		acting += a.parts[i].acting
	}
	return acting
}

// attempt fills a page in one detail. It draws until the budget is spent, makes
// room for the last line, which says that there is more, and measures what came
// out: the budget holds for the whole text.
func (p *pager) attempt(d *detail) *attempt {
	a := &attempt{next: -1, complete: true, omits: p.omitted(d)}
	spent, budget := 0, p.budget*1000
	a.w = &walker{model: p.model, detail: d, from: p.from, flat: p.as == jsonForm}
	a.w.yield = func(next part) bool {
		drawn := a.w.draw(next, p.as)
		spent += drawn.cost
		if spent > budget {
			a.complete, a.next = false, p.nodes[next.first].elem
			return false
		}
		a.parts = append(a.parts, drawn)
		return true
	}
	a.w.children(-1, 0)
	for {
		a.write(p)
		over := sanitize.EstimateMilli(a.text) - budget
		if over <= 0 || len(a.parts) == 0 {
			return a
		}
		for ; over > 0 && len(a.parts) > 0; a.complete = false {
			last := a.parts[len(a.parts)-1]
			over -= last.cost
			a.next = p.nodes[last.first].elem
			a.parts = a.parts[:len(a.parts)-1]
		}
	}
}

// omitted says what the detail leaves out that is there.
func (p *pager) omitted(d *detail) string {
	texts, values := false, false
	for i := range p.nodes {
		if n := &p.nodes[i]; n.elem >= p.from {
			e := p.element(i)
			texts = texts || d.terse() && n.refs == 0 && (e.Role.IsTextual() || !desktop.IsBlank(e.Name))
			values = values || d.value == 0 && (!desktop.IsBlank(e.Value) || e.States.Has(desktop.Protected))
		}
		if texts && (values || d.value > 0) {
			break
		}
	}
	switch {
	case texts && values:
		return "texts and values"
	case texts:
		return "texts"
	case values:
		return "values"
	}
	return ""
}

// draw writes a part down.
func (w *walker) draw(p part, as form) drawn {
	if as == jsonForm {
		object := w.object(&p)
		return drawn{part: p, object: object, cost: sanitize.EstimateMilli(jsonText(object)) + 3000}
	}
	line := w.text(&p)
	return drawn{part: p, line: line, cost: sanitize.EstimateMilli(line)}
}

// write joins the parts to a page: what they are in, they, and what is missing.
func (a *attempt) write(p *pager) {
	if p.as == jsonForm {
		a.tree = a.joined(p)
		a.text = jsonText(a.tree)
		return
	}
	var b strings.Builder
	for depth, c := range a.around() {
		if c >= 0 {
			b.WriteString(indent(depth) + a.w.context(c) + " …\n")
		}
	}
	for i := range a.parts {
		b.WriteString(a.parts[i].line)
	}
	if note := a.note(p); note != "" {
		b.WriteString("(" + note + ")\n")
	}
	a.text = b.String()
}

// around returns what the first part is in, at most the outermost and the three
// nearest of it, as JSON the nearest; the others are -1.
func (a *attempt) around() []int {
	if len(a.parts) == 0 {
		return nil
	}
	path := a.w.path(a.parts[0].first)
	if a.w.from == a.w.first {
		return nil // then its lines are there
	}
	nearest := 3
	if a.w.flat {
		nearest = 1
	}
	for i := 1; i < len(path)-nearest; i++ {
		path[i] = -1
	}
	return path
}

// context is a node as the page before told it, in short.
func (w *walker) context(c int) string {
	n, e := &w.nodes[c], w.element(c)
	text := e.Role.SafeName()
	if !desktop.IsBlank(e.Name) {
		text += " " + desktop.Quote(e.Name, 24)
	}
	if n.hasRef {
		text += " [" + w.ref(n.elem) + "]"
	}
	return text
}

// note says what is not on the page. How much more there is, and its cursor, are
// in the Page and for the caller to tell: it is no content of the app.
func (a *attempt) note(p *pager) string {
	switch {
	case a.next >= 0 && p.as == jsonForm:
		left := ""
		if a.omits != "" {
			left = ", without " + a.omits
		}
		return fmt.Sprintf("%d of %d elements to act on%s", a.acting(), p.total, left)
	case len(p.nodes) == 0:
		return "nothing is showing"
	case len(a.parts) == 0:
		return "nothing more"
	case a.omits != "":
		return "without " + a.omits + ", to fit the budget"
	}
	return ""
}
