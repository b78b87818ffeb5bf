package aai

import (
	"slices"
	"sort"
	"strings"
)

// Nearest returns up to n of the names that are most similar to name, best first. It omits names
// with more than half of the letters different, or exactly half and another first letter. A name
// that contains the other counts as one letter off.
func Nearest(name string, names []string, n int) []string {
	type scored struct {
		name     string
		distance int
	}
	name = strings.ToLower(CleanLabel(name, maxName))
	var near []scored
	for _, candidate := range names {
		lower := strings.ToLower(candidate)
		d := editDistance(name, lower)
		if name != "" && (strings.Contains(lower, name) || strings.Contains(name, lower)) {
			d = min(d, 1)
		}
		longest := max(len(name), len(lower))
		if 2*d < longest || 2*d == longest && strings.HasPrefix(lower, name[:min(1, len(name))]) {
			near = append(near, scored{candidate, d})
		}
	}
	sort.SliceStable(near, func(i, j int) bool { return near[i].distance < near[j].distance })
	var out []string
	for _, s := range near {
		if len(out) < n && !slices.Contains(out, s.name) {
			out = append(out, s.name)
		}
	}
	return out
}

// editDistance returns the Levenshtein distance in bytes.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		previous := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			previous, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, previous+cost)
		}
	}
	return row[len(b)]
}
