package query

import (
	"slices"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// maxNear is the maximum number of suggestions.
const maxNear = 5

// A similarity compares texts with one text by their common pairs of bytes.
type similarity struct {
	pairs [1 << 12]uint16 // frequency of each pair; some pairs share an entry
	total int
}

func newSimilarity(text string) *similarity {
	l := &similarity{}
	for i := range len(text) - 1 {
		l.pairs[pairAt(text, i)]++
		l.total++
	}
	return l
}

func pairAt(text string, i int) int { return (int(text[i])<<5 ^ int(text[i+1])) & (1<<12 - 1) }

// of returns the similarity from 0 to 1: Dice's coefficient.
func (l *similarity) of(text string) float64 {
	if len(text) > desktop.MaxValue {
		text = text[:desktop.MaxValue]
	}
	shared, total := 0, len(text)-1
	if total < 1 || l.total < 1 {
		return 0
	}
	var places [desktop.MaxValue]int
	for i := range total {
		places[i] = pairAt(text, i)
		if l.pairs[places[i]] > 0 {
			l.pairs[places[i]]--
			shared++
			continue
		}
		places[i] = -1
	}
	for _, place := range places[:total] {
		if place >= 0 {
			l.pairs[place]++
		}
	}
	return 2 * float64(shared) / float64(total+l.total)
}

// Nearest returns the indexes of at most five showing elements with the names most similar to the words, best first.
// It prefers elements of the role.
func Nearest(s *desktop.Snapshot, words string, role desktop.Role) []int {
	return newFinder(s, Options{Root: -1}).nearest(words, &roleTest{roles: []desktop.Role{role}})
}

// nearest returns the elements in the searched range with the names most similar to the text, best first. It also
// prefers the right role and actionable elements.
func (f *finder) nearest(text string, role *roleTest) []int {
	type near struct {
		index int
		score float64
	}
	var all []near
	l := newSimilarity(loosen(text))
	turned := countNegations(text, wordsOf(text))
	for i := f.from; i < f.to; i++ {
		if !f.visible[i] && !f.all {
			continue
		}
		e := &f.s.Elements[i]
		score := max(l.of(f.looseName(i)), l.of(f.loosened(i, identifierAttribute)))
		if e.Name == "" && e.Description != "" {
			score = max(score, l.of(f.loosened(i, descriptionAttribute)))
		}
		if score < 0.3 {
			continue
		}
		if role != nil && role.matches(e) {
			score += 0.3
		}
		if f.interactive(i) {
			score += 0.1
		}
		if countNegations(e.Name, wordsOf(e.Name)) > turned {
			score -= 0.5 // "Don't remove" is the worst suggestion for "Remove"
		}
		all = append(all, near{i, score})
	}
	slices.SortStableFunc(all, func(a, b near) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return 0
	})
	var best []int
	for _, n := range all {
		if len(best) == maxNear {
			break
		}
		if !f.isDuplicateOf(n.index, best) {
			best = append(best, n.index)
		}
	}
	return best
}

// isDuplicateOf reports whether an element has the same name as one of the others that contains it or is
// contained in it.
func (f *finder) isDuplicateOf(i int, others []int) bool {
	within := func(inner, outer int) bool { return outer < inner && inner < f.s.Elements[outer].End }
	return slices.ContainsFunc(others, func(o int) bool {
		return f.looseName(o) == f.looseName(i) && (within(i, o) || within(o, i))
	})
}
