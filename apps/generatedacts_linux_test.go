package apps

import (
	"fmt"
	"slices"
	"strings"
)

// generated returns acts on the elements that the witness sees: at most one of each element.
func (s *stage) generated(most int) []step {
	s.Helper()
	nodes := s.witness.tree(false)
	named := make(map[string]int)
	for _, n := range nodes {
		if n.name != "" && n.role != "label" {
			named[strings.ToLower(n.name)]++
		}
	}
	var steps []step
	misses := 0
	for _, n := range nodes {
		if n.name == "" || !n.is(sensitive) || s.program.isExit(n.name) || named[strings.ToLower(n.name)] > 1 {
			continue
		}
		if made, ok := s.generate(n); ok && (made.want != nil || named[strings.ToLower(made.args["query"].(string))] == 0) {
			if made.want == nil {
				misses++
			}
			if made.want == nil && misses > 2 {
				continue
			}
			steps = append(steps, made)
		}
	}
	s.random.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
	return steps[:min(most, len(steps))]
}

// generate returns an act on the element. Now and then its target is a similar name that does not
// exist on the screen.
func (s *stage) generate(n node) (step, bool) {
	click := func(kind string, wanted expectation) (step, bool) {
		if s.random.IntN(5) == 0 {
			return made("near miss", "ax_click", params{"query": s.near(n.name)}, nil), true
		}
		return made(kind, "ax_click", params{"query": n.name}, wanted), true
	}
	switch n.role {
	case "check box", "toggle button", "switch":
		if s.random.IntN(3) == 0 {
			return made("toggle", "ax_set_value", params{"query": n.name, "value": fmt.Sprint(!n.on())}, togglesMark(n)), true
		}
		return click("toggle", togglesMark(n))
	case "radio button":
		return click("radio", comesOn(n))
	case "page tab":
		return click("tab", comesOn(n))
	case "list item", "tree item", "table cell", "icon":
		return click("row", comesOn(n))
	case "push button":
		// The effect depends on the program; the test checks that no other element is pressed.
		return made("near miss", "ax_click", params{"query": s.near(n.name)}, nil), true
	case "text", "entry":
		if !n.is(editable) {
			return step{}, false
		}
		word := s.word()
		if s.random.IntN(2) == 0 {
			return made("field", "ax_set_value", params{"query": n.name, "value": word}, has(n.ref, word)), true
		}
		return made("field", "ax_type", params{"query": n.name, "text": word, "clear_first": true}, has(n.ref, word)), true
	case "spin button", "slider":
		value := 1 + s.random.IntN(9)
		return made("number", "ax_set_value", params{"query": n.name, "value": fmt.Sprint(value)}, counts(n.ref, float64(value))), true
	}
	return step{}, false
}

// near returns a similar name that has no element.
func (s *stage) near(name string) string {
	switch s.random.IntN(3) {
	case 0:
		return "Don't " + name
	case 1:
		return name + " all of it"
	}
	return "Un" + strings.ToLower(name)
}

func (s *stage) word() string {
	letters := []rune("abcdefgh ijklmnop qrstuvwxyzäöüß")
	var b strings.Builder
	b.WriteString("w")
	for range 4 + s.random.IntN(20) {
		b.WriteRune(letters[s.random.IntN(len(letters))])
	}
	return strings.Join(strings.Fields(b.String()), " ") + "w" // two spaces are a separate element in Writer's files
}

// isExit reports whether the element of that name ends or leaves the program.
func (p program) isExit(name string) bool {
	return slices.ContainsFunc(append([]string{"quit", "exit", "close"}, p.excludedNames...), func(part string) bool {
		return strings.Contains(strings.ToLower(name), part)
	})
}
