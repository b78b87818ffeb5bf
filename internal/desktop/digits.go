package desktop

import "strings"

// MaxExactDigits is the number of decimal digits that a float64 always holds exactly.
const MaxExactDigits = 15

// CountDigits returns the number of digits of a written number, from the first nonzero one. It returns 0 if
// the text contains anything but digits, a sign and a point.
func CountDigits(text string) int {
	unsigned := strings.TrimLeft(text, "+-")
	if strings.Trim(unsigned, "0123456789.") != "" {
		return 0
	}
	return len(strings.TrimLeft(strings.Replace(unsigned, ".", "", 1), "0"))
}
