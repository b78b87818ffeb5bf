package sanitize

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Quote returns third-party text as one line in double quotation marks, for models and people. It
// applies NeutralizeMarkup, so that the text cannot end the quotation. The text has at most max
// bytes.
func Quote(s string, max int) string {
	s = NeutralizeMarkup(s, max)
	if strings.HasSuffix(s, `\`) {
		s += " " // a final backslash would seem to escape the quotation mark
	}
	return `"` + s + `"`
}

// NeutralizeMarkup is Label for text in Markdown without quotation marks. It replaces characters
// that would begin markup (code, HTML, comments, links, images) by similar ones. It does the same
// with quotation marks and lenticular brackets, with which the gateway encloses such text.
func NeutralizeMarkup(s string, max int) string {
	s = Label(s, max)
	if !strings.ContainsFunc(s, isMarkup) {
		return s
	}
	return Label(strings.ReplaceAll(strings.Map(neutralRune, s), "](", "] ("), max)
}

func isMarkup(r rune) bool { return r == ']' || neutralRune(r) != r }

func neutralRune(r rune) rune {
	switch r {
	case '"', '“', '”', '„', '‟', '«', '»', '＂', '`':
		return '\''
	case '<':
		return '‹'
	case '>':
		return '›'
	case '【':
		return '['
	case '】':
		return ']'
	}
	return r
}

// EscapeInvisible writes the invisible characters of a JSON text, such as controls, bidirectional
// overrides and tags, as \u escapes. They only occur inside strings, so the value stays the same.
func EscapeInvisible(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r < 0x7f || r != blankBraille && Text(string(r), utf8.UTFMax) == string(r) {
			b.WriteRune(r)
			continue
		}
		writeEscape(&b, r)
	}
	return b.String()
}

// writeEscape writes a character as a JSON escape (RFC 8259, section 7).
func writeEscape(b *strings.Builder, r rune) {
	if r > 0xffff {
		r -= 0x10000
		fmt.Fprintf(b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		return
	}
	fmt.Fprintf(b, `\u%04x`, r)
}

// QuoteJSON returns a JSON text for use in Markdown, with the same value: invisible characters
// and markup become \u escapes. The text must be valid JSON, on one or several lines.
func QuoteJSON(text string) string {
	// these two characters are adjacent only inside strings
	text = strings.ReplaceAll(EscapeInvisible(text), "](", `]\u0028`)
	var b strings.Builder
	for _, r := range text {
		if r == '<' || r == '>' || r == '`' {
			writeEscape(&b, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// ConfusableReason describes in a few words why a name may be deceptive: several scripts in one
// word, only letters that resemble Latin ones, or styled letters. It returns "" for other names.
// Callers should mark such a name, not hide it.
func ConfusableReason(name string) string {
	if i := strings.IndexFunc(name, isStyledLetter); i >= 0 {
		r, _ := utf8.DecodeRuneInString(name[i:])
		return "has letters in an unusual shape, such as " + string(r)
	}
	words := strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) })
	letters, alike := 0, 0
	for _, word := range words {
		seen := ""
		for _, r := range word {
			switch script := confusableScript(r); {
			case script == "":
			case seen != "" && seen != script:
				return "mixes " + seen + " and " + script + " letters in one word"
			default:
				seen = script
			}
			if unicode.IsLetter(r) {
				letters++
			}
			if strings.ContainsRune(latinAlike, r) {
				alike++
			}
		}
	}
	if letters >= minAlike && alike == letters {
		return "is not in Latin letters, though it looks so"
	}
	return ""
}

// minAlike is the number of letters from which the resemblance of a whole name is not accidental.
const minAlike = 4

// latinAlike holds letters of other scripts that are hard to distinguish from Latin ones, from
// the list of confusables in Unicode's UTS #39.
const latinAlike = "асеорхуіјѕһԁԛԝѵӏАВСЕНІЈКМОРЅТХҮԚԜΑΒΕΖΗΙΚΜΝΟΡΤΥΧονιρԼՕՍհոսօᎪᎬᎻᎠᏟᏒᎢᎳ"

// confusableScript returns the script of a letter if its script has letters that resemble those
// of another, otherwise "".
func confusableScript(r rune) string {
	switch {
	case r < 0x80 && unicode.IsLetter(r), unicode.Is(unicode.Latin, r):
		return "Latin"
	case unicode.Is(unicode.Cyrillic, r):
		return "Cyrillic"
	case unicode.Is(unicode.Greek, r):
		return "Greek"
	case unicode.Is(unicode.Armenian, r):
		return "Armenian"
	case unicode.Is(unicode.Cherokee, r):
		return "Cherokee"
	case unicode.Is(unicode.Coptic, r):
		return "Coptic"
	case unicode.Is(unicode.Lisu, r):
		return "Lisu"
	}
	return ""
}

// isStyledLetter reports whether a letter is a styled form of another one: mathematical, enclosed
// or full-width.
func isStyledLetter(r rune) bool {
	return 0x1d400 <= r && r <= 0x1d7ff || 0x1f130 <= r && r <= 0x1f189 || 0x24b6 <= r && r <= 0x24e9 ||
		0xff21 <= r && r <= 0xff5a
}
