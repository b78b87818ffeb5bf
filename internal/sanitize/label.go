package sanitize

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxMarks is how many combining marks in a row are kept: more than any language
// needs, fewer than cover the lines above and below.
const maxMarks = 8

// Label makes one harmless line of text that came from outside: control
// and format characters (terminal escapes, bidirectional overrides, zero-width
// and tag characters), heaps of combining marks and invalid UTF-8 are dropped,
// runs of white space become one space, and what is longer than max bytes is cut,
// so that it has at most max bytes with the "…" at its end; max is at least 3.
func Label(s string, max int) string {
	return clean(s, max, false)
}

// Text is Label for text of several lines: it keeps line breaks and
// tabs.
func Text(s string, max int) string {
	return clean(s, max, true)
}

func clean(s string, max int, lines bool) string {
	const more = "…"
	if isClean(s, max, lines) {
		return s
	}
	var b strings.Builder
	b.Grow(min(len(s), max))
	fits := 0  // how much of it leaves room for "…"
	marks := 0 // combining marks in a row
	for i, r := range s {
		switch {
		case ' ' < r && r < 0x7f: // most of all text
			marks = 0
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], string(utf8.RuneError)):
			continue
		case lines && (r == '\n' || r == '\t'):
		case unicode.IsSpace(r) || r == blankBraille:
			r, marks = ' ', 0
		case invisible(r):
			continue
		case unicode.In(r, unicode.Mn, unicode.Me):
			if marks++; marks > maxMarks {
				continue
			}
		default:
			marks = 0
		}
		if !lines && r == ' ' && (b.Len() == 0 || strings.HasSuffix(b.String(), " ")) {
			continue
		}
		b.WriteRune(r)
		if b.Len() <= max-len(more) {
			fits = b.Len()
		}
		if b.Len() > max && (lines || r != ' ') {
			return strings.TrimRight(b.String()[:fits], " ") + more
		}
	}
	if lines {
		return b.String()
	}
	return strings.TrimSuffix(b.String(), " ")
}

// isClean reports of most texts that nothing has to be done to them.
func isClean(s string, max int, lines bool) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case ' ' < c && c < 0x7f:
		case c == ' ' && (lines || i > 0 && i < len(s)-1 && s[i-1] != ' '):
		case lines && (c == '\n' || c == '\t'):
		default:
			return false
		}
	}
	return len(s) <= max
}

// blankBraille is a pattern of no dots: a space that Unicode calls a symbol.
const blankBraille = '\u2800'

// invisible reports whether a character shows nothing of itself and may change
// how others look: Unicode's control and format characters, what it says to
// ignore by default, and what has no meaning to strangers.
func invisible(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Variation_Selector,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Noncharacter_Code_Point)
}
