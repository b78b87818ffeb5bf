package risk

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// destructiveSymbols are button symbols that mean a loss. × is not among them: it means
// multiplication.
const destructiveSymbols = "✕✖❌🗑🗙✗✘⨯❎🚮⏻"

// readings returns all readings of a text, separated so that no word matches across two.
// In a reading, a mnemonic mark is a space or nothing, and a capital inside a word starts
// a new word or does not.
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

// normalizeText returns the text in lower case, with one form of each letter, and with one
// space for each run of characters that are neither letters nor destructiveSymbols. All
// forms of the apostrophe count as spaces.
func normalizeText(text string) string {
	var b strings.Builder
	b.Grow(len(text) + 8)
	gap := false
	for _, r := range strings.ToLower(norm.NFKC.String(text)) {
		switch {
		case unicode.Is(unicode.Inherited, r) || r == '\u0640': // an accent that forms no letter, or a tatweel
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

// fold writes a lower-case letter in its form for comparison, which ignores spelling variants.
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

// alphabetic reports whether the word's script separates words by spaces.
func alphabetic(word string) bool {
	return strings.ContainsFunc(word, func(r rune) bool {
		return unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Arabic, unicode.Hebrew,
			unicode.Devanagari, unicode.Bengali, unicode.Tamil, unicode.Telugu, unicode.Gurmukhi)
	})
}

// dropMnemonics returns the text without mnemonic marks.
func dropMnemonics(text string) string {
	if !strings.ContainsAny(text, "_&") {
		return text
	}
	return strings.NewReplacer("_", "", "&", "").Replace(text)
}

// splitCamelCase returns the text with a space before each capital that starts a word inside another.
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

// latin replaces Cyrillic and Greek letters by the Latin letters that they resemble, in
// words that also contain Latin letters. Such words are meant to deceive.
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

// lookalike returns the Latin letter that a Cyrillic or Greek letter resembles.
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
