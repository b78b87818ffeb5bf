package values

import (
	"math"
	"strconv"
	"strings"
)

// NumberOr reads a number as people and programs write it.
func NumberOr(text string, otherwise float64) float64 {
	f, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimSpace(text), "\u2212", "-"), 64)
	if err != nil || math.IsInf(f, 0) {
		return otherwise
	}
	return f
}

// Worded reports whether a text says no number, such as a date.
func Worded(text string) bool { return text != "" && math.IsNaN(NumberOr(text, math.NaN())) }

// SameNumber reports whether a text says the number, to the last digit that is no error of
// reckoning.
func SameNumber(text string, number float64) bool { return near(text, number, 1e-12) }

// near reports whether a text says the number, but for such a part of it.
func near(text string, number, part float64) bool {
	return math.Abs(NumberOr(text, math.NaN())-number) < part*math.Max(1, math.Abs(number))
}
