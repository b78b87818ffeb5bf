package search

import (
	"cmp"
	"slices"
)

// Factors for a further tool of an app in the list, and for a further tool of the same name. They
// favour diverse results, so that an app cannot fill the list by having many tools or copies.
const (
	sameAppFactor  = 0.93
	sameNameFactor = 0.8
)

// maxDiversified limits the results that are reordered for diversity.
const maxDiversified = 20

// rankHits sorts hits: named tools first, then each time the one that adds most to the list.
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

// diversify sorts hits of the same match level.
func diversify(hits []hit) []hit {
	slices.SortFunc(hits, compareHits)
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
