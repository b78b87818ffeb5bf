package policy

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// destructiveSymbols are the pictures that stand for a word of loss on a button. × is none: it
// multiplies.
const destructiveSymbols = "✕✖❌🗑🗙✗✘⨯❎🚮⏻"

// readings are the ways to read a text, one after the other and none across another: a
// mark of a mnemonic within a word or a space there, a capital within a word as the
// start of another or not.
func readings(text string) string {
	text = latin(norm.NFKC.String(text))
	joined := dropMnemonics(text)
	var b strings.Builder
	for i, reading := range []string{text, splitCamelCase(text), joined, splitCamelCase(joined)} {
		if i > 0 && reading == text {
			continue
		}
		b.WriteString("| " + normalizeText(reading) + " |")
	}
	return b.String()
}

// normalizeText is the text in lower case, in one form of each letter, with one space for all
// that is no letter and none of the signs. An apostrophe is no letter, however it is
// written.
func normalizeText(text string) string {
	var b strings.Builder
	b.Grow(len(text) + 8)
	gap := false
	for _, r := range strings.ToLower(norm.NFKC.String(text)) {
		switch {
		case unicode.Is(unicode.Inherited, r) || r == '\u0640': // an accent that makes no letter, a stretched line
		case strings.ContainsRune(destructiveSymbols, r):
			b.WriteByte(' ')
			b.WriteRune(r)
			gap = true
		case !unicode.IsLetter(r) && !unicode.IsMark(r) || r == '\u02bc':
			gap = true
		default:
			if gap {
				b.WriteByte(' ')
			}
			gap = false
			fold(&b, r)
		}
	}
	return strings.TrimSpace(b.String())
}

// fold writes a small letter as it is compared: as it is also written, or in capitals.
func fold(b *strings.Builder, r rune) {
	switch {
	case r == 'ß':
		b.WriteString("ss")
		return
	case r == 'ı':
		r = 'i'
	case r == 'ς':
		r = 'σ'
	case r > unicode.MaxASCII && unicode.Is(unicode.Greek, r):
		r = []rune(norm.NFD.String(string(r)))[0] // capitals have no accents
	}
	b.WriteRune(r)
}

// alphabetic reports whether the word is written with spaces around it.
func alphabetic(word string) bool {
	return strings.ContainsFunc(word, func(r rune) bool {
		return unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Arabic, unicode.Hebrew,
			unicode.Devanagari, unicode.Bengali, unicode.Tamil, unicode.Telugu, unicode.Gurmukhi)
	})
}

// dropMnemonics is the text without the marks of mnemonics that stand within a word.
func dropMnemonics(text string) string {
	if !strings.ContainsAny(text, "_&") {
		return text
	}
	return strings.NewReplacer("_", "", "&", "").Replace(text)
}

// splitCamelCase is the text with a space before each capital that starts a word within another.
func splitCamelCase(text string) string {
	var b strings.Builder
	all := []rune(text)
	for i, r := range all {
		if i > 0 && unicode.IsUpper(r) && (unicode.IsLower(all[i-1]) || i+1 < len(all) && unicode.IsUpper(all[i-1]) && unicode.IsLower(all[i+1])) {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// latin is the text with Latin letters for those of Cyrillic and Greek that look like
// them, in words that have Latin ones too: nobody writes so but to be misread.
func latin(text string) string {
	other := func(r rune) bool { return unicode.In(r, unicode.Cyrillic, unicode.Greek) }
	if !strings.ContainsFunc(text, other) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		end := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) && r != '_' && r != '&' })
		switch end {
		case -1:
			end = len(text)
		case 0:
			end = strings.IndexFunc(text, unicode.IsLetter)
			if end < 0 {
				end = len(text)
			}
		}
		word := text[:end]
		if strings.ContainsFunc(word, other) && strings.ContainsFunc(word, func(r rune) bool { return unicode.Is(unicode.Latin, r) }) {
			word = strings.Map(lookalike, word)
		}
		b.WriteString(word)
		text = text[end:]
	}
	return b.String()
}

// lookalike is the Latin letter that a letter of Cyrillic or Greek looks like.
func lookalike(r rune) rune {
	const (
		theirs = "АВЕКМНОРСТУХІЅЈԌԚԜҺӀавекмнорстухіѕјԁԛԝһӏΑΒΕΖΗΙΚΜΝΟΡΤΥΧαβγεηικνορτυχω"
		ours   = "ABEKMHOPCTYXISJGQWHIabekmhopctyxisjdqwhlABEZHIKMNOPTYXabyenikvoptuxw"
	)
	before, _, found := strings.Cut(theirs, string(r))
	if !found {
		return r
	}
	return rune(ours[len([]rune(before))])
}
