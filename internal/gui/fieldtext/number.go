package fieldtext

import (
	"math"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// ParseNumber reads a number as people and programs write it.
func ParseNumber(text string, otherwise float64) float64 {
	f, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimSpace(text), "\u2212", "-"), 64)
	if err != nil || math.IsInf(f, 0) {
		return otherwise
	}
	return f
}

// IsNonNumeric reports whether a text says no number, such as a date.
func IsNonNumeric(text string) bool { return text != "" && math.IsNaN(ParseNumber(text, math.NaN())) }

// SameNumber reports whether a text says the number, to the last digit that is no error of
// reckoning.
func SameNumber(text string, number float64) bool { return near(text, number, 1e-12) }

// IsSameWrittenNumber reports whether a text says the number that another one writes: whole numbers, and what
// has more digits than a program reckons with, to the last digit, others as SameNumber does.
func IsSameWrittenNumber(text, written string) bool {
	if !SameNumber(text, ParseNumber(written, math.NaN())) {
		return false
	}
	is, whole, _ := digits(text)
	wanted, alsoWhole, long := digits(written)
	exact := long || whole && alsoWhole
	return is == "" || wanted == "" || is == wanted || !exact
}

// PlainDigits is how a number is typed: without an exponent, and with all the digits that it has.
func PlainDigits(written string) string {
	plain := strconv.FormatFloat(ParseNumber(written, math.NaN()), 'f', -1, 64)
	if IsSameWrittenNumber(plain, written) {
		return plain
	}
	return strings.ReplaceAll(strings.TrimSpace(written), "\u2212", "-")
}

// digits is a number in one of the ways to write it, "" where there is an exponent or something
// else, and whether it is a whole one, and has more digits than programs reckon with.
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

// near reports whether a text says the number, but for such a part of it.
func near(text string, number, part float64) bool {
	return math.Abs(ParseNumber(text, math.NaN())-number) < part*math.Max(1, math.Abs(number))
}
