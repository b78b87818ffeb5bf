package search

import (
	"cmp"
	"slices"
)

// What another tool of an app that is in the list already is worth, and another of the same
// name: who asks is helped by a list of different things, and nobody gets all of it by having
// many tools, or many apps.
const (
	sameAppFactor  = 0.93
	sameNameFactor = 0.8
)

// maxDiversified is how many are chosen so; behind them nobody looks.
const maxDiversified = 20

// rankHits puts the best first, then always the one that adds most. What the request names
// stands before what only fits.
func rankHits(hits []hit) []hit {
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Compare(b.named, a.named) })
	var ordered []hit
	for len(hits) > 0 {
		end := 1
		for end < len(hits) && hits[end].named == hits[0].named {
			end++
		}
		ordered = append(ordered, diversify(hits[:end])...)
		hits = hits[end:]
	}
	return ordered
}

// diversify are hits in their order, where none of them is named more than others.
func diversify(hits []hit) []hit {
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.app.ID, b.app.ID), cmp.Compare(a.tool.Name, b.tool.Name))
	})
	apps, names := make(map[string]float64), make(map[string]float64)
	factor := func(m map[string]float64, key string) float64 { return cmp.Or(m[key], 1) }
	ordered := make([]hit, 0, len(hits))
	left := slices.Clone(hits)
	for len(left) > 0 && len(ordered) < maxDiversified {
		best, worth := 0, -1.0
		for i, h := range left {
			if w := h.score * factor(apps, h.app.ID) * factor(names, h.tool.Name); w > worth {
				best, worth = i, w
			}
		}
		h := left[best]
		left = slices.Delete(left, best, best+1)
		apps[h.app.ID] = factor(apps, h.app.ID) * sameAppFactor
		names[h.tool.Name] = factor(names, h.tool.Name) * sameNameFactor
		ordered = append(ordered, h)
	}
	return append(ordered, left...)
}
