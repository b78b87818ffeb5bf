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

// SameNumber reports whether a text says the number, as far as a program tells it that keeps
// it in 32 bits.
func SameNumber(text string, number float64) bool {
	said := NumberOr(text, math.NaN())
	return math.Abs(said-number) < 1e-9*math.Max(1, math.Abs(number)) || float32(said) == float32(number) && said != math.Trunc(said)
}
