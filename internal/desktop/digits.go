package desktop

import "strings"

// MaxExactDigits is how many digits of a number 64 bits are sure to hold.
const MaxExactDigits = 15

// CountDigits counts the digits with which a number is written, from the first that is no zero; it
// is 0 where there is anything else but a sign and a point.
func CountDigits(text string) int {
	unsigned := strings.TrimLeft(text, "+-")
	if strings.Trim(unsigned, "0123456789.") != "" {
		return 0
	}
	return len(strings.TrimLeft(strings.Replace(unsigned, ".", "", 1), "0"))
}
