package aai

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// CleanLabel makes one harmless line of text that came from outside: control
// and format characters (terminal escapes, bidirectional overrides, zero-width
// and tag characters) and invalid UTF-8 are dropped, runs of white space become
// one space, and what is longer than max bytes is cut and ends in "…".
func CleanLabel(s string, max int) string {
	return strings.Join(strings.Fields(clean(s, max, false)), " ")
}

// CleanText is CleanLabel for text of several lines: it keeps line breaks and
// tabs.
func CleanText(s string, max int) string {
	return clean(s, max, true)
}

func clean(s string, max int, lines bool) string {
	var b strings.Builder
	for i, r := range s {
		if b.Len() >= max {
			b.WriteString("…")
			break
		}
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], string(utf8.RuneError)):
		case r == '\n' || r == '\t':
			if !lines {
				r = ' '
			}
			b.WriteRune(r)
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Variation_Selector):
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Nearest returns up to n of the names that are likest to the one given, best
// first, leaving out those that have little in common with it.
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
		if d <= max(len(name), len(lower))/2 {
			near = append(near, scored{candidate, d})
		}
	}
	sort.SliceStable(near, func(i, j int) bool { return near[i].distance < near[j].distance })
	var out []string
	for _, s := range near[:min(n, len(near))] {
		out = append(out, s.name)
	}
	return out
}

// editDistance is the Levenshtein distance in bytes.
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
