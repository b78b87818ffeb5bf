package sanitize

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxMarks is the number of consecutive combining marks that are kept: more than any language
// needs, and too few to cover adjacent lines.
const maxMarks = 8

// Label returns external text as one harmless line. It drops control and format characters:
// terminal escapes, bidirectional overrides, zero-width and tag characters. It also drops excess
// combining marks and invalid UTF-8, and replaces runs of white space by one space. A longer text
// is cut to at most max bytes, including the final "…"; max is at least 3.
func Label(s string, max int) string {
	return clean(s, max, false)
}

// Text is Label for text of several lines: it keeps line breaks and tabs.
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
	fits := 0  // bytes that leave space for "…"
	marks := 0 // consecutive combining marks
	for i, r := range s {
		switch {
		case ' ' < r && r < 0x7f: // the common case
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

// isClean reports whether the text needs no change, as most texts do.
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

// blankBraille is a pattern without dots: a space that Unicode classifies as a symbol.
const blankBraille = '\u2800'

// invisible reports whether a character is invisible and may change the display of others:
// control and format characters, default ignorable ones, private use characters, surrogates and
// noncharacters.
func invisible(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Variation_Selector,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Noncharacter_Code_Point)
}
