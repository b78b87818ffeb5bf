package query

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// For returns the shortest query that matches only the snapshot's i'th element and permits actions on it,
// see Query.allowsAction; "" if there is none. The query uses the strategy Auto. For a hidden element
// it requires Options.Hidden.
//
// For prefers stable properties: first role and name, then other attributes, the author's identifier and
// the role alone; then the same within a named ancestor, the nearest first; and last the position among
// others.
func For(s *desktop.Snapshot, i int) string {
	if i < 0 || i >= len(s.Elements) {
		return ""
	}
	w := generator{s: s, i: i, options: Options{Root: -1, Hidden: !s.IsVisible(i)}}
	e := &s.Elements[i]
	for _, text := range slices.Concat(terms(e), w.within(), w.counted()) {
		if w.identifiesElement(text) {
			return text
		}
	}
	return ""
}

// A generator generates queries for one element.
type generator struct {
	s       *desktop.Snapshot
	i       int
	options Options
}

// identifiesElement reports whether the query matches only this element.
func (w *generator) identifiesElement(text string) bool {
	q, err := Parse(text, Auto)
	if err != nil {
		return false // too long, or not expressible
	}
	return slices.Equal(q.Find(w.s, w.options).Matches, []int{w.i})
}

// nameAttributes returns the attributes that may identify an element, the best first.
func nameAttributes() []attribute {
	return []attribute{nameAttribute, descriptionAttribute, identifierAttribute}
}

// terms returns queries of terms for an element.
func terms(e *desktop.Element) (queries []string) {
	role := ""
	if _, known := lookUpRole(string(e.Role)); known {
		role = "role:" + string(e.Role)
	}
	for _, a := range nameAttributes() {
		if text := a.of(e); text != "" {
			queries = append(queries, strings.TrimLeft(role+" "+string(a)+":"+quote(text), " "))
		}
	}
	if role != "" {
		queries = append(queries, role)
	}
	return queries
}

// steps returns path steps that match an element, the narrowest first.
func steps(e *desktop.Element) (all []string) {
	role := "*"
	if _, known := lookUpRole(string(e.Role)); known {
		role = string(e.Role)
	}
	for _, a := range nameAttributes() {
		// Paths cannot express a text with both kinds of quotes.
		if text := a.of(e); text != "" && (!strings.Contains(text, "'") || !strings.Contains(text, `"`)) {
			all = append(all, role+"[@"+string(a)+"="+literal(text)+"]")
		}
	}
	return append(all, role)
}

// maxAncestors is the maximum number of ancestors that are tried.
const maxAncestors = 4

// within returns paths to the element from its ancestors, the nearest first.
func (w *generator) within() (paths []string) {
	holders := 0
	for p := w.s.Elements[w.i].Parent; p >= 0 && holders < maxAncestors; p = w.s.Elements[p].Parent {
		ways := steps(&w.s.Elements[p])
		if len(ways) == 1 {
			continue // it has no name
		}
		holders++
		for _, own := range steps(&w.s.Elements[w.i]) {
			paths = append(paths, "//"+ways[0]+"//"+own)
		}
	}
	return paths
}

// counted returns paths that count similar elements.
func (w *generator) counted() (paths []string) {
	for _, own := range steps(&w.s.Elements[w.i]) {
		like, err := Parse("//"+own, Auto)
		if err != nil {
			continue
		}
		if n := slices.Index(like.Find(w.s, w.options).Matches, w.i); n >= 0 {
			paths = append(paths, "(//"+own+")["+strconv.Itoa(n+1)+"]")
		}
	}
	return paths
}
