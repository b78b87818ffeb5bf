package fieldtext

import (
	"math"
	"strconv"
	"strings"

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
