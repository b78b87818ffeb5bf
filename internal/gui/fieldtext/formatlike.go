package fieldtext

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// FormatLike writes a date or time in the format of another one in the same field. It accepts the
// same format up to leading zeros, and a text for [ParseDateTime] if the format is unambiguous. It
// returns false for all others: a field may show such a text, but keep its old date.
func FormatLike(shown, wanted string) (string, bool) {
	pattern := runs(shown)
	if text, ok := formatRunsLike(pattern, runs(strings.TrimSpace(wanted))); ok {
		return text, true
	}
	moment := ParseDateTime(wanted)
	units := unitsOf(pattern)
	if moment == nil || units == nil {
		return "", false
	}
	for _, unit := range []string{"year", "month", "day", "hour", "minute"} {
		if _, named := moment[unit]; named != slices.Contains(units, unit) {
			return "", false
		}
	}
	if moment["second"] != 0 && !slices.Contains(units, "second") {
		return "", false
	}
	var text strings.Builder
	for i, unit := range units {
		if unit == "" {
			text.WriteString(pattern[i])
			continue
		}
		number, named := moment[unit]
		if !named {
			return "", false
		}
		fmt.Fprintf(&text, "%0*d", len(pattern[i]), int(number))
	}
	return text.String(), true
}

// runs splits a text into runs of digits, of letters and of other characters.
func runs(text string) (all []string) {
	kind := func(c rune) int {
		switch {
		case '0' <= c && c <= '9':
			return 0
		case unicode.IsLetter(c):
			return 1
		}
		return 2
	}
	last := -1
	for _, c := range text {
		if now := kind(c); now != last {
			all, last = append(all, ""), now
		}
		all[len(all)-1] += string(c)
	}
	return all
}

// formatRunsLike formats the runs like the pattern, if they differ only in leading zeros.
func formatRunsLike(pattern, wanted []string) (string, bool) {
	if len(pattern) != len(wanted) || len(pattern) < 2 {
		return "", false
	}
	text := ""
	for i, run := range pattern {
		want := wanted[i]
		switch {
		case isDigits(run) && isDigits(want):
			if want = strings.TrimLeft(want, "0"); len(want) > len(run) && (len(run) != 1 || len(want) != 2) {
				return "", false
			}
			if len(run) > 2 && len(wanted[i]) != len(run) { // a year
				return "", false
			}
			want = strings.Repeat("0", max(0, len(run)-len(want))) + want
		case strings.EqualFold(run, want):
		case !half(run) || !half(want):
			return "", false
		}
		text += want
	}
	return text, true
}

func isDigits(run string) bool { return run[0] >= '0' && run[0] <= '9' }

// half reports whether the run is "am" or "pm".
func half(run string) bool { return strings.EqualFold(run, "am") || strings.EqualFold(run, "pm") }

// unitsOf returns the unit of each run, or "" for a separator; nil if that is ambiguous.
func unitsOf(pattern []string) []string {
	units := make([]string, len(pattern))
	clock := []string{"hour", "minute", "second"}
	var date []int
	for i, run := range pattern {
		beside := i > 0 && strings.Contains(pattern[i-1], ":") || i+1 < len(pattern) && strings.Contains(pattern[i+1], ":")
		switch {
		case unicode.IsLetter([]rune(run)[0]):
			return nil
		case !isDigits(run):
		case beside && len(clock) == 0:
			return nil
		case beside:
			units[i], clock = clock[0], clock[1:]
		default:
			date = append(date, i)
		}
	}
	order := dateOrder(pattern, date)
	if len(date) > 0 && order == nil {
		return nil
	}
	for n, i := range date {
		units[i] = order[n]
	}
	return units
}

// dateOrder returns the units of a date's numbers, by the four-digit year, a day above 12, and
// dots.
func dateOrder(pattern []string, date []int) []string {
	if len(date) != 3 {
		return nil
	}
	first, second, last := pattern[date[0]], pattern[date[1]], pattern[date[2]]
	above := func(run string) bool { return len(run) == 2 && run > "12" }
	switch {
	case len(first) == 4 && len(last) <= 2:
		return []string{"year", "month", "day"}
	case len(last) != 4 || len(first) > 2:
		return nil
	case above(second) && !above(first):
		return []string{"month", "day", "year"}
	case above(first) && !above(second), strings.TrimSpace(pattern[date[0]+1]) == ".":
		return []string{"day", "month", "year"}
	}
	return nil
}
