package sanitize

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// EstimateTokens returns the approximate number of o200k_base tokens of the text. It splits the text
// into the encoding's pieces, which is exact, and applies the average cost of a piece by script
// and length. On outlines in major languages it is at most 3 % too low and less than 15 % too
// high; in languages that are rare in the vocabulary it may be 5 % too low. The estimate of a
// text never exceeds the sum over its lines.
func EstimateTokens(text string) int { return (EstimateMilliTokens(text) + 999) / 1000 }

// EstimateMilliTokens is Estimate in thousandths of a token, so that sums do not add rounding errors.
func EstimateMilliTokens(text string) int {
	sum := 0
	for len(text) > 0 {
		cost, size := firstPiece(text)
		sum += cost
		text = text[size:]
	}
	return sum
}

// A leadKind is the kind of character before a word that belongs to its piece.
type leadKind int

const (
	noLead    leadKind = iota
	spaceLead          // a space, as in most words of the vocabulary
	otherLead          // another character that is no letter, such as a quote
)

// firstPiece returns the cost in thousandths and the size in bytes of the first piece, by the
// regular expression of o200k_base: a word with a preceding character, up to three digits, a run
// of other characters, or white space.
func firstPiece(s string) (cost, size int) {
	r, width := utf8.DecodeRuneInString(s)
	switch {
	case isWordRune(r):
		return wordPiece(s, 0, noLead)
	case isDigitRune(r):
		return digitPiece(s)
	}
	if r != '\n' && r != '\r' && width < len(s) {
		if next, _ := utf8.DecodeRuneInString(s[width:]); isWordRune(next) {
			if r == ' ' {
				return wordPiece(s, width, spaceLead)
			}
			return wordPiece(s, width, otherLead)
		}
	}
	start := 0
	if s[0] == ' ' {
		start = 1
	}
	if end := start + punctuationRun(s[start:]); end > start {
		cost = punctuationCost(s[start:end])
		for end < len(s) && strings.IndexByte("\r\n/", s[end]) >= 0 {
			end++
		}
		return cost, end
	}
	return 1000, spaceRun(s)
}

// isWordRune reports whether the encoding treats the character as part of a word.
func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r|0x20 && r|0x20 <= 'z'
	}
	return unicode.In(r, unicode.L, unicode.M)
}

func isDigitRune(r rune) bool {
	if r < utf8.RuneSelf {
		return '0' <= r && r <= '9'
	}
	return unicode.Is(unicode.N, r)
}

func digitPiece(s string) (cost, size int) {
	for n := 0; n < 3 && size < len(s); n++ {
		r, width := utf8.DecodeRuneInString(s[size:])
		if !isDigitRune(r) {
			break
		}
		size += width
	}
	return max(1000, 600*(size-1)), size // all of "0" to "999" are in the vocabulary
}

// punctuationRun returns the number of bytes at the start of s that are neither words nor digits
// nor white space.
func punctuationRun(s string) int {
	for i, r := range s {
		if unicode.IsSpace(r) || isWordRune(r) || isDigitRune(r) {
			return i
		}
	}
	return len(s)
}

// punctuationCost returns the cost of a run of punctuation: ASCII and common marks are often
// joined, those of JSON nearly always; emoji take two to four tokens each.
func punctuationCost(s string) int {
	cost, plain, structure := 0, 0, 0
	for _, r := range s {
		switch {
		case strings.ContainsRune(`{}[]",:`, r):
			structure++
		case r < utf8.RuneSelf:
			plain++
		case r < 0x2070 || 0x3000 <= r && r < 0x3040 || 0xff00 <= r && r <= 0xffef:
			cost += 850
		case r < 0x10000:
			cost += 1800
		default:
			cost += 2700
		}
	}
	switch {
	case plain > 0:
		cost += 1000 + 500*max(0, plain+structure-2)
	case cost > 0:
		cost += 400 * structure
	default:
		cost += 400 * max(0, structure-4)
	}
	return max(1000, cost)
}

// spaceRun returns the number of bytes of white space in one piece: up to the last line break,
// else all but the space that belongs to the next word.
func spaceRun(s string) int {
	end, last, broken := len(s), 0, 0
	for i, r := range s {
		if !unicode.IsSpace(r) {
			end = i
			break
		}
		last = i
		if r == '\n' || r == '\r' {
			broken = i + 1
		}
	}
	switch {
	case broken > 0:
		return broken
	case end < len(s) && last > 0:
		return last
	}
	return max(end, 1)
}
