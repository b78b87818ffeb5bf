package render

import (
	"fmt"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// A pager fills a page with parts of a model, in the fullest detail that fits.
type pager struct {
	*model
	budget int
	total  int // number of actionable elements of the model
	from   int // the first element
	as     form
}

// A drawn part is a formatted part with its cost in thousandths of a token.
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
	next     int // first element of the next page; -1 if there is none
	omits    string
	tree     *Tree
	text     string
	complete bool
}

// page chooses the first detail in which everything fits. Otherwise it chooses the first in which all
// actionable elements fit and only text remains for the next page, or else the tersest. For off-screen
// elements it uses the fullest, because the caller wants to read.
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
	page := Page{Text: a.text, Tokens: sanitize.EstimateTokens(a.text), Shown: a.acting()}
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

// attempt fills a page in one detail. It draws until the budget is spent, makes room for the last line,
// which says that there is more, and measures the result: the budget holds for the whole text.
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
		over := sanitize.EstimateMilliTokens(a.text) - budget
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

// omitted lists the existing information that the detail omits.
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

// draw formats a part.
func (w *walker) draw(p part, as form) drawn {
	if as == jsonForm {
		object := w.object(&p)
		return drawn{part: p, object: object, cost: sanitize.EstimateMilliTokens(jsonText(object)) + 3000}
	}
	line := w.text(&p)
	return drawn{part: p, line: line, cost: sanitize.EstimateMilliTokens(line)}
}

// write joins the parts to a page: the context of the first part, the parts, and the note.
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

// around returns the ancestors of the first part, at most the outermost and the three nearest, for JSON the
// nearest; the others are -1.
func (a *attempt) around() []int {
	if len(a.parts) == 0 {
		return nil
	}
	path := a.w.path(a.parts[0].first)
	if a.w.from == a.w.first {
		return nil // the page has their lines
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

// context returns a short form of an entry that was shown on an earlier page.
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

// note describes the omissions of the page. The number of remaining elements and the cursor are in the
// Page, and the caller formats them: they are not content of the app.
func (a *attempt) note(p *pager) string {
	switch {
	case a.next >= 0 && p.as == jsonForm:
		left := ""
		if a.omits != "" {
			left = ", without " + a.omits
		}
		return fmt.Sprintf("%d of %s to act on%s", a.acting(), aai.Count(p.total, "element"), left)
	case len(p.nodes) == 0:
		return "nothing is showing"
	case len(a.parts) == 0:
		return "nothing more"
	case a.omits != "":
		return "without " + a.omits + ", to fit the budget"
	}
	return ""
}
