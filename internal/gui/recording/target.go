package recording

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway/internal/automation/recorded"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/query"
)

// Limits of a description.
const (
	maxTargetName = 120 // bytes of a name
	maxPath       = 12  // containers, the innermost
	maxNeighbours = 6   // elements to search for a text before and after
)

// NewTarget describes the snapshot's i'th element. It contains no values, which the person may have typed.
func NewTarget(s *desktop.Snapshot, i int) recorded.Target {
	e := &s.Elements[i]
	t := recorded.Target{Role: string(e.Role), Name: shorten(e.Name), Identifier: shorten(e.Identifier), Typed: isText(e)}
	for p := e.Parent; p >= 0; p = s.Elements[p].Parent {
		if in := &s.Elements[p]; in.Role != desktop.Generic {
			t.Path = append(t.Path, strings.TrimSpace(string(in.Role)+" "+shorten(in.Name)))
		}
	}
	t.Path = t.Path[:min(len(t.Path), maxPath)]
	slices.Reverse(t.Path)
	window := s.WindowOf(i)
	for n, j := 0, i-1; j > window && n < maxNeighbours && t.Before == ""; n, j = n+1, j-1 {
		if s.Elements[j].End <= i { // no container of it
			t.Before = shorten(s.Elements[j].Name)
		}
	}
	for n, j := 0, e.End; j < s.Elements[window].End && n < maxNeighbours && t.After == ""; n, j = n+1, j+1 {
		t.After = shorten(s.Elements[j].Name)
	}
	return t
}

// shorten returns a name in the length that a description keeps.
func shorten(name string) string {
	name = strings.Join(strings.Fields(strings.ToValidUTF8(name, "")), " ")
	for len(name) > maxTargetName {
		runes := []rune(name)
		name = string(runes[:len(runes)*3/4])
	}
	return name
}

// QueryFor returns a query that finds the snapshot's i'th element and no other; "" if there is none.
func QueryFor(s *desktop.Snapshot, i int) string {
	e := &s.Elements[i]
	role := "role:" + string(e.Role)
	var tries []string
	if name := strings.TrimSpace(e.Name); name != "" && len(name) <= maxTargetName {
		tries = append(tries, role+" name:"+quoted(name))
	}
	if e.Identifier != "" && len(e.Identifier) <= maxTargetName {
		tries = append(tries, role+" identifier:"+quoted(e.Identifier))
	}
	if e.Name == "" && e.Description != "" && len(e.Description) <= maxTargetName {
		tries = append(tries, role+" description:"+quoted(e.Description))
	}
	if e.Name == "" {
		tries = append(tries, role)
	}
	for p := e.Parent; p >= 0; p = s.Elements[p].Parent {
		if in := predicate(&s.Elements[p]); in != "" && predicate(e) != "" {
			tries = append(tries, "//"+string(s.Elements[p].Role)+in+"//"+string(e.Role)+predicate(e))
		}
	}
	tries = append(tries, pathTo(s, i))
	for _, text := range tries {
		if isOnly(s, text, i) {
			return text
		}
	}
	return ""
}

// isOnly reports whether a call that acts finds the element by the query, and no other.
func isOnly(s *desktop.Snapshot, text string, i int) bool {
	if text == "" || len(text) > query.MaxLength {
		return false
	}
	q, err := query.Parse(text, query.Auto)
	if err != nil {
		return false
	}
	found := q.FindForAction(s, query.Options{Root: -1}).Matches
	return len(found) == 1 && found[0] == i
}

// quoted quotes a text for a term of a query.
func quoted(text string) string {
	b, err := json.Marshal(text)
	if err != nil || strings.Contains(string(b), `\u`) {
		return ""
	}
	return string(b)
}

// predicate returns the condition on the name of an element in a path; "" without a name that can be written.
func predicate(e *desktop.Element) string {
	switch name := e.Name; {
	case name == "" || len(name) > maxTargetName || strings.ContainsAny(name, "\n\t"):
		return ""
	case !strings.Contains(name, "'"):
		return "[@name='" + name + "']"
	case !strings.Contains(name, `"`):
		return `[@name="` + name + `"]`
	}
	return ""
}

// pathTo returns the path to an element from its window or the nearest container with a name, with its place among its like.
func pathTo(s *desktop.Snapshot, i int) string {
	path := ""
	for at := i; ; at = s.Elements[at].Parent {
		e := &s.Elements[at]
		if named := predicate(e); at != i && named != "" && isOnly(s, "//"+string(e.Role)+named, at) {
			return "//" + string(e.Role) + named + path
		}
		place := 1
		for _, sibling := range s.Children(e.Parent) {
			if sibling < at && s.Elements[sibling].Role == e.Role {
				place++
			}
		}
		path = fmt.Sprintf("/%s[%d]", e.Role, place) + path
		if e.Parent < 0 {
			return path
		}
	}
}
