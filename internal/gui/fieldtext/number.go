package fieldtext

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// ParseNumber parses a decimal number, with - or U+2212 as the minus sign; otherwise is the result for other texts.
func ParseNumber(text string, otherwise float64) float64 {
	f, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimSpace(text), "\u2212", "-"), 64)
	if err != nil || math.IsInf(f, 0) {
		return otherwise
	}
	return f
}

// IsNonNumeric reports whether a text is not empty and no number, such as a date.
func IsNonNumeric(text string) bool { return text != "" && math.IsNaN(ParseNumber(text, math.NaN())) }

// SameNumber reports whether a text is the number, up to rounding errors.
func SameNumber(text string, number float64) bool { return near(text, number, 1e-12) }

// IsSameWrittenNumber reports whether two texts are the same number. Integers and numbers with more
// digits than MaxExactDigits must match exactly, others as in SameNumber.
func IsSameWrittenNumber(text, written string) bool {
	if !SameNumber(text, ParseNumber(written, math.NaN())) {
		return false
	}
	is, whole, _ := digits(text)
	wanted, alsoWhole, long := digits(written)
	exact := long || whole && alsoWhole
	return is == "" || wanted == "" || is == wanted || !exact
}

// PlainDigits returns a number in the form to type: without an exponent, and with all its digits.
func PlainDigits(written string) string {
	plain := strconv.FormatFloat(ParseNumber(written, math.NaN()), 'f', -1, 64)
	if IsSameWrittenNumber(plain, written) {
		return plain
	}
	return strings.ReplaceAll(strings.TrimSpace(written), "\u2212", "-")
}

// digits returns a number in canonical form ("" with an exponent or other characters). It reports
// whether it is an integer, and whether it has more digits than MaxExactDigits.
func digits(text string) (same string, whole, long bool) {
	text = strings.ReplaceAll(strings.TrimSpace(text), "\u2212", "-")
	unsigned := strings.TrimLeft(text, "+-")
	if strings.Trim(unsigned, "0123456789.") != "" {
		return "", false, false
	}
	before, after, _ := strings.Cut(unsigned, ".")
	before, after = strings.TrimLeft(before, "0"), strings.TrimRight(after, "0")
	if same = before + "." + after; same != "." && strings.HasPrefix(text, "-") {
		same = "-" + same
	}
	return same, after == "", desktop.CountDigits(unsigned) > desktop.MaxExactDigits
}

// near reports whether a text is the number, up to the relative error part.
func near(text string, number, part float64) bool {
	return math.Abs(ParseNumber(text, math.NaN())-number) < part*math.Max(1, math.Abs(number))
}

// DateTimeUnits returns the units of a date or time field's parts, such as "month", in the order of
// the user's language. It returns nil if their bounds are ambiguous. A field's minimum and maximum
// narrow the bounds: in a fixed year, months may range from 3 to 9. Days are narrow only if the
// month is fixed, too.
func DateTimeUnits(parts []*desktop.Element) []string {
	if len(parts) < 2 { // most fields have no parts, and need no more calls
		return nil
	}
	var best []string
	most := -1
	for _, units := range orders() {
		if full := countMatchingUnits(units, parts); full > most {
			best, most = units, full
		} else if full == most {
			best = nil // ambiguous
		}
	}
	return best
}

// orders returns the possible orders of units, in languages and HTML fields.
func orders() (all [][]string) {
	dates := [][]string{nil, {"year", "month", "day"}, {"day", "month", "year"}, {"month", "day", "year"}, {"year", "month"}, {"month", "year"}, {"year", "week"}, {"week", "year"}}
	clocks := [][]string{nil}
	for _, clock := range [][]string{{"hour", "minute"}, {"hour", "minute", "second"}, {"hour", "minute", "second", "millisecond"}} {
		clocks = append(clocks, clock, append(slices.Clone(clock), "half"), append([]string{"half"}, clock...))
	}
	for _, date := range dates {
		for _, clock := range clocks {
			all = append(all, slices.Concat(date, clock))
			if date != nil && clock != nil {
				all = append(all, slices.Concat(clock, date))
			}
		}
	}
	return all
}

// countMatchingUnits counts parts with their unit's full range; -1 if one cannot have its unit.
func countMatchingUnits(units []string, parts []*desktop.Element) int {
	if len(units) != len(parts) {
		return -1
	}
	full, fixed := 0, true
	for _, unit := range []string{"year", "month", "week", "day", "hour", "minute", "second", "millisecond", "half"} { // greater units first
		i := slices.Index(units, unit)
		if i < 0 {
			continue
		}
		e := parts[i]
		switch can, whole := fitsUnit(unit, e.Min, e.Max); {
		case !can || e.Min > e.Max:
			return -1
		case whole:
			full++
		case !fixed && unit != "half":
			return -1 // a unit is narrow only if all greater ones are fixed
		}
		fixed = fixed && e.Min == e.Max
	}
	return full
}

// fitsUnit reports whether a unit may have such bounds, and whether they are its full range.
func fitsUnit(unit string, least, most float64) (can, whole bool) {
	from := func(first, last, shortest float64) (bool, bool) {
		return least >= 0 && most <= last, least <= first && most >= shortest && most <= last
	}
	switch unit {
	case "year":
		return most >= 1000, least <= 1 && most >= 9999
	case "month":
		return from(1, 12, 12)
	case "week":
		return from(1, 53, 52)
	case "day":
		return from(1, 31, 28)
	case "hour": // from 0 to 11 or 23, or from 1 to 12 or 24; 0 to 0 means unknown
		can, _ = from(0, 24, 0)
		return can && most > 0, least == 0 && (most == 11 || most == 23) || least <= 1 && (most == 12 || most == 24)
	case "minute", "second":
		return from(0, 59, 59)
	case "millisecond":
		return from(0, 999, 999)
	}
	return most == 1 || most == 2, most-least == 1
}

// dateTimeLayouts returns the notations of a date or time, as in HTML.
func dateTimeLayouts() []string {
	return []string{"2006-01-02", "15:04", "15:04:05", "2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02 15:04:05", "2006-01"}
}

// ParseDateTime returns the number of each unit in the text, or nil if it is no date or time.
func ParseDateTime(text string) map[string]float64 {
	text = strings.TrimSpace(text)
	var year, week int
	if n, err := fmt.Sscanf(text, "%d-W%d", &year, &week); n == 2 && err == nil {
		if _, last := time.Date(year, 12, 28, 0, 0, 0, 0, time.UTC).ISOWeek(); week < 1 || week > last {
			return nil
		}
		return map[string]float64{"year": float64(year), "week": float64(week)}
	}
	for _, layout := range dateTimeLayouts() {
		t, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		units := make(map[string]float64)
		if strings.Contains(layout, "2006") {
			units["year"], units["month"] = float64(t.Year()), float64(t.Month())
		}
		if strings.Contains(layout, "02") {
			units["day"] = float64(t.Day())
		}
		if strings.Contains(layout, "15") {
			units["hour"], units["minute"], units["second"], units["millisecond"] = float64(t.Hour()), float64(t.Minute()), float64(t.Second()), float64(t.Nanosecond()/1e6)
		}
		return units
	}
	return nil
}

// IsSameDate reports whether date, which ParseDateTime reads, has the numbers of text, which has them in another order.
func IsSameDate(date, text string) bool {
	numbers := func(s string) []int {
		var all []int
		for _, digits := range strings.FieldsFunc(s, func(r rune) bool { return r < '0' || r > '9' }) {
			n, _ := strconv.Atoi(digits)
			all = append(all, n)
		}
		slices.Sort(all)
		return all
	}
	return ParseDateTime(date) != nil && ParseDateTime(text) == nil && slices.Equal(numbers(date), numbers(text))
}

// FormatDateTime formats the units so that ParseDateTime reads them; "" if they form no date or
// time.
func FormatDateTime(units map[string]float64) string {
	has := func(unit string) bool { _, ok := units[unit]; return ok }
	write := func(layout string, of ...string) string {
		numbers := make([]any, len(of))
		for i, unit := range of {
			numbers[i] = int(units[unit])
		}
		return fmt.Sprintf(layout, numbers...)
	}
	date, clock := "", ""
	switch {
	case !has("year"):
	case has("week"):
		date = write("%04d-W%02d", "year", "week")
	case has("month") && has("day"):
		date = write("%04d-%02d-%02d", "year", "month", "day")
	case has("month"):
		date = write("%04d-%02d", "year", "month")
	}
	switch {
	case !has("hour") || !has("minute"):
	case has("millisecond"):
		clock = write("%02d:%02d:%02d.%03d", "hour", "minute", "second", "millisecond")
	case has("second"):
		clock = write("%02d:%02d:%02d", "hour", "minute", "second")
	default:
		clock = write("%02d:%02d", "hour", "minute")
	}
	if date != "" && clock != "" {
		return date + "T" + clock
	}
	return date + clock
}

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
