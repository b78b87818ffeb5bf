package render

import (
	"encoding/json"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// A Tree is an outline in structured form.
type Tree struct {
	Elements []*Element `json:"elements"`
	Note     string     `json:"note,omitempty"` // describes omitted parts
	More     string     `json:"more,omitempty"` // as Page.More
}

// An Element is an element of a Tree, or a fold of many similar ones. A fold has only the field Fold, in
// the words of the text form, unless it represents a browser's frame.
type Element struct {
	Ref         string       `json:"ref,omitempty"`
	Role        desktop.Role `json:"role,omitempty"`
	Name        string       `json:"name,omitempty"`
	Value       string       `json:"value,omitempty"`
	States      []string     `json:"states,omitempty"`
	Frame       []int        `json:"frame,omitempty"` // x, y, width and height in physical pixels
	Actions     []string     `json:"actions,omitempty"`
	Description string       `json:"description,omitempty"`
	Identifier  string       `json:"identifier,omitempty"`
	Min         *float64     `json:"min,omitempty"`
	Max         *float64     `json:"max,omitempty"`
	Unread      int          `json:"unread,omitempty"` // number of children that were too many to read
	Inside      int          `json:"inside,omitempty"` // number of actionable elements below the requested depth
	Continued   bool         `json:"continued,omitempty"`
	Fold        string       `json:"fold,omitempty"`

	Children []*Element `json:"children,omitempty"`
}

// jsonText returns the text on which the budget of a JSON outline is measured.
func jsonText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return "" // cannot happen: strings, whole numbers and finite bounds
	}
	return string(text)
}

// object converts a part without its children.
func (w *walker) object(p *part) *Element {
	if p.kind == foldPart {
		return &Element{Fold: p.fold.text(w.model)}
	}
	n, e := &w.nodes[p.first], w.element(p.first)
	if p.kind == renderedPart {
		o := &Element{Role: desktop.Role(e.Role.SafeName()), Name: aai.CleanLabel(e.Name, 24), Continued: true}
		if n.hasRef {
			o.Ref = w.ref(n.elem)
		}
		return o
	}
	o := &Element{Role: desktop.Role(e.Role.SafeName()), Name: w.displayName(p.first), Unread: e.UnreadChildren, Inside: p.tooDeep}
	if n.hasRef || w.isTruncated(p.first) {
		o.Ref = w.ref(n.elem)
	}
	if n.frame != nil {
		o.Fold = strings.TrimPrefix(n.frame.text(w.model), "; ")
	}
	if w.options.Compact {
		return o
	}
	o.States = e.States.Words()
	if !e.Frame.Empty() {
		o.Frame = []int{e.Frame.X, e.Frame.Y, e.Frame.W, e.Frame.H}
	}
	if w.detail.value > 0 && w.value(e) != "" {
		o.Value = "****"
		if !e.States.Has(desktop.Protected) {
			o.Value = aai.CleanLabel(e.Value, w.detail.value)
		}
	}
	if e.Min < e.Max && e.Min-e.Min == 0 && e.Max-e.Max == 0 { // neither is infinite
		o.Min, o.Max = &e.Min, &e.Max
	}
	if w.detail.text > 0 {
		o.Identifier = aai.CleanLabel(e.Identifier, 60)
		for _, action := range e.Actions[:min(len(e.Actions), 5)] {
			o.Actions = append(o.Actions, aai.CleanLabel(action, 30))
		}
	}
	if w.detail.description && e.Description != e.Name {
		o.Description = aai.CleanLabel(e.Description, 80)
	}
	return o
}

// joined builds a tree of the parts from fresh objects: if it exceeds the budget, it is built again with
// fewer parts.
func (a *attempt) joined(p *pager) *Tree {
	tree := &Tree{Elements: []*Element{}, Note: a.note(p)}
	if a.next >= 0 {
		tree.More = p.cursor(a.next)
	}
	made := make(map[int]*Element) // by entry
	hang := func(c int, o *Element) {
		for up := p.nodes[c].parent; up >= 0; up = p.nodes[up].parent {
			if parent := made[up]; parent != nil {
				parent.Children = append(parent.Children, o)
				return
			}
		}
		tree.Elements = append(tree.Elements, o)
	}
	for _, c := range a.around() {
		if c < 0 {
			continue
		}
		e := p.element(c)
		o := &Element{Role: desktop.Role(e.Role.SafeName()), Name: aai.CleanLabel(e.Name, 24), Continued: true}
		if p.nodes[c].hasRef {
			o.Ref = p.ref(p.nodes[c].elem)
		}
		hang(c, o)
		made[c] = o
	}
	for i := range a.parts {
		o := *a.parts[i].object
		hang(a.parts[i].first, &o)
		if a.parts[i].kind == onePart || a.parts[i].kind == renderedPart {
			made[a.parts[i].first] = &o
		}
	}
	return tree
}
