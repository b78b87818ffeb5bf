package sanitize

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Quote returns a stranger's words as one line in double quotation marks, for a
// text that a model or a person reads: Label, and nothing in it ends the
// quotation or is markup. The words have at most max bytes.
func Quote(s string, max int) string {
	s = NeutralizeMarkup(s, max)
	if strings.HasSuffix(s, `\`) {
		s += " " // or it would seem to escape the quotation mark
	}
	return `"` + s + `"`
}

// NeutralizeMarkup is Label for words that stand in Markdown without quotation marks:
// what would begin markup there (code, HTML, comments, links and pictures), and
// quotation marks and lenticular brackets, which the gateway puts around such
// words itself, are replaced by signs that look alike.
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

// EscapeInvisible writes the characters of a JSON text that do not show, such as
// controls, bidirectional overrides and tags, as \u escapes. They can only stand
// inside of strings, so the value stays the same.
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

// writeEscape writes a character as JSON's escape of it (RFC 8259, section 7).
func writeEscape(b *strings.Builder, r rune) {
	if r > 0xffff {
		r -= 0x10000
		fmt.Fprintf(b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		return
	}
	fmt.Fprintf(b, `\u%04x`, r)
}

// QuoteJSON returns a JSON text as it may stand in Markdown, with the same value:
// what does not show and what would be markup there is written as \u escapes. The
// text is valid JSON on one line or several.
func QuoteJSON(text string) string {
	text = strings.ReplaceAll(EscapeInvisible(text), "](", `]\u0028`) // outside of strings they cannot meet
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

// ConfusableReason says in a few words why a name may not be what it seems: letters of
// several scripts in one word, a name wholly of letters that look like Latin ones,
// or letters in the shape of others. It is empty for an honest name. Such a name
// is to be marked, not hidden.
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

// minAlike is how many letters a name needs for their likeness to be no accident.
const minAlike = 4

// latinAlike are letters of other scripts that few could tell from Latin ones, of
// the list of confusables in Unicode's UTS #39.
const latinAlike = "асеорхуіјѕһԁԛԝѵӏАВСЕНІЈКМОРЅТХҮԚԜΑΒΕΖΗΙΚΜΝΟΡΤΥΧονιρԼՕՍհոսօᎪᎬᎻᎠᏟᏒᎢᎳ"

// confusableScript names the script of a letter, of those whose letters are taken for one
// another; "" for any other.
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

// isStyledLetter reports whether a letter is another one in a shape of its own: those for
// mathematics, in circles, and as wide as Chinese ones.
func isStyledLetter(r rune) bool {
	return 0x1d400 <= r && r <= 0x1d7ff || 0x1f130 <= r && r <= 0x1f189 || 0x24b6 <= r && r <= 0x24e9 || 0xff21 <= r && r <= 0xff5a
}
