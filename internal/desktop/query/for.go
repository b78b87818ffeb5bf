package query

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// For returns the shortest query that means the snapshot's i'th element and no other, and
// means it so surely that it may be acted upon, see [Query.AllowsActionOn]; "" if there is no such
// element. It is understood with the strategy Auto. An element that does not show is what
// it finds with Options.Hidden.
//
// What is likeliest to stay as it is counts first: the role and the name, then what the
// element says of itself, what its author calls it, the role alone; then the same within
// something that has a name, the nearest first; and only then the place among others.
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

// A writer writes queries for one element.
type generator struct {
	s       *desktop.Snapshot
	i       int
	options Options
}

// identifiesElement reports whether the query means the element and no other.
func (w *generator) identifiesElement(text string) bool {
	q, err := Parse(text, Auto)
	if err != nil {
		return false // too long, or not to be written
	}
	return slices.Equal(q.Find(w.s, w.options).Matches, []int{w.i})
}

// nameAttributes are the attributes that an element may be known by, the best first.
func nameAttributes() []attribute {
	return []attribute{nameAttribute, descriptionAttribute, identifierAttribute}
}

// terms are queries of terms for an element.
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

// steps are steps of a path that an element fits, the narrowest first.
func steps(e *desktop.Element) (all []string) {
	role := "*"
	if _, known := lookUpRole(string(e.Role)); known {
		role = string(e.Role)
	}
	for _, a := range nameAttributes() {
		// A path has no way to write a text with quotes of both kinds.
		if text := a.of(e); text != "" && (!strings.Contains(text, "'") || !strings.Contains(text, `"`)) {
			all = append(all, role+"[@"+string(a)+"="+literal(text)+"]")
		}
	}
	return append(all, role)
}

// maxAncestors is how many of the things that an element is in are tried.
const maxAncestors = 4

// within are paths to the element from what it is in, the nearest first.
func (w *generator) within() (paths []string) {
	holders := 0
	for p := w.s.Elements[w.i].Parent; p >= 0 && holders < maxAncestors; p = w.s.Elements[p].Parent {
		ways := steps(&w.s.Elements[p])
		if len(ways) == 1 {
			continue // it is called nothing
		}
		holders++
		for _, own := range steps(&w.s.Elements[w.i]) {
			paths = append(paths, "//"+ways[0]+"//"+own)
		}
	}
	return paths
}

// counted are paths that count the elements which are like it.
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
