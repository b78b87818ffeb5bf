package sanitize

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A script is a group of scripts with the same token costs.
type script int

const (
	latin script = iota
	greek
	cyrillic
	hebrew
	arabic
	indic
	thai
	kana
	hangul
	han
	foreign
)

// wordPiece returns the cost and the end of the word that begins at byte at. The encoding also
// ends a word before a capital after small letters.
func wordPiece(s string, at int, before leadKind) (cost, size int) {
	end, runes, capitals, small := at, 0, 0, false
	kind := latin
	for end < len(s) {
		r, width := utf8.DecodeRuneInString(s[end:])
		if !isWordRune(r) {
			break
		}
		switch {
		case unicode.IsUpper(r) || unicode.IsTitle(r):
			if small {
				return wordCost(s[at:end], kind, runes, capitals, before), end
			}
			capitals++
		case unicode.IsLower(r):
			small = true
		}
		kind = max(kind, scriptOf(r))
		end += width
		runes++
	}
	return wordCost(s[at:end], kind, runes, capitals, before), end + contraction(s[end:])
}

// contraction returns the size of an English ending such as 's, which stays with its word.
func contraction(s string) int {
	if !strings.HasPrefix(s, "'") {
		return 0
	}
	for _, ending := range [...]string{"s", "t", "m", "d", "re", "ve", "ll"} {
		if strings.HasPrefix(s[1:], ending) {
			return 1 + len(ending)
		}
	}
	return 0
}

func scriptOf(r rune) script {
	switch {
	case r < 0x370 || 0x1e00 <= r && r < 0x1f00:
		return latin
	case r < 0x400 || 0x1f00 <= r && r < 0x2000:
		return greek
	case r < 0x530:
		return cyrillic
	case r < 0x590:
		return foreign
	case r < 0x600:
		return hebrew
	case r < 0x780:
		return arabic
	case 0x900 <= r && r < 0xe00:
		return indic
	case 0xe00 <= r && r < 0xe80:
		return thai
	case 0x3040 <= r && r < 0x3100:
		return kana
	case 0xac00 <= r && r < 0xd7b0:
		return hangul
	case 0x4e00 <= r && r < 0xa000:
		return han
	}
	return foreign
}

// wordCost returns a linear estimate for each script and lead, fitted to the messages of free
// desktop programs in that script; for Latin letters see latinCost.
func wordCost(word string, kind script, runes, capitals int, before leadKind) int {
	if kind == latin {
		return latinCost(word, runes, capitals, before)
	}
	if kind == foreign {
		return max(1000, 500+350*len(word))
	}
	line := [...][3][2]int{ // {base cost, cost per letter} by lead
		greek:    {{550, 450}, {350, 340}, {1600, 450}},
		cyrillic: {{900, 280}, {550, 210}, {1600, 350}},
		hebrew:   {{600, 420}, {350, 410}, {1400, 430}},
		arabic:   {{750, 330}, {350, 280}, {1600, 400}},
		indic:    {{800, 430}, {250, 350}, {1300, 450}},
		thai:     {{700, 400}, {650, 400}, {1300, 550}},
		kana:     {{350, 590}, {500, 560}, {1250, 540}},
		hangul:   {{600, 680}, {600, 530}, {1300, 650}},
		han:      {{200, 800}, {750, 780}, {1050, 800}},
	}[kind][before]
	return max(1000, line[0]+line[1]*runes)
}

// latinCost sums up the costs of adjacent letter pairs: pairs common in English are in long
// tokens, those of other languages and of codes are not.
func latinCost(word string, runes, capitals int, before leadKind) int {
	cost := [...]int{noLead: 600, spaceLead: 180, otherLead: 950}[before]
	if capitals == runes && runes > 1 {
		cost += 120*runes - 60
	}
	previous := -1
	for i := range len(word) {
		letter := int(word[i]|0x20) - 'a'
		if letter < 0 || letter > 25 {
			if !utf8.RuneStart(word[i]) {
				continue
			}
			letter = 26
			cost += 70
		}
		if previous >= 0 {
			cost += int(pairCosts[previous*27+letter]-'A')*60 - 300
		}
		previous = letter
	}
	return max(1000, cost)
}

// pairCosts has a row for each letter a to z, and one for all others, with a column for each
// following letter: A is -0.3 tokens, each further letter adds 0.06. Fitted to the messages of
// free desktop programs in twelve languages and to the source of Go.
const pairCosts = "NIHHKHELGJIDGFSGNFHDHKPHCIO" + "JONNHLMMQCMDLDINIJHDIJKIGMQ" + "IPLMFKOFILGFOOGNNFOBGLJIIKN" +
	"MSMIIJFSMKNHMQKQKLINLJSNIKR" + "JOKGLKHPQOPJKILJHIIHMLLIJOQ" + "MJWMKJNJJZLKKNKJIKOHLLQKCLN" +
	"TLRRJRNFPJFKOLPRIJNLNPLIDKV" + "LOPRIGJFLSGKKDJKIGLHRMLJOOR" + "JKFFGGDMQIJFIDBEGGFDNFKILEL" +
	"QJJKKKBIPIDLPIJKIJKWNIIJIGO" + "POPKKNIUQLPOORRSNTLKPULIQIT" + "MNQIJOKSLRNILNLJIPKIIOIWEQR" +
	"KJOMHNQSMITOHNJGJOPJLNTLQOP" + "NQJILHGPOTMLPLNMRKJENLKINKQ" + "EMKJJHGPNOIIIEIIMFJHHIHMKKO" +
	"MJTLFSSMRMLFOPHLIGQIMOKIHKQ" + "MKIJIKKKIIIJJIIILKINIIIIIJI" + "MMNJHIJKOOJMIIJKOLKKLLMKEPO" +
	"OTMLIKJHMQLOPRLLMOGFKPGKHQO" + "OQKOKMOHMNJLONLJJJLLMMKYJKP" + "JMMJGIFTLNPEHHOGIFIFQKPJMRQ" +
	"NRUTFQILLIMMOQMMIQPLRSQMRMT" + "MKNIIHLCNKMIKAJLIEELTIGJNPO" + "ORGPISKKKJKOGJSFIKHGOHHJJIP" +
	"RVTVNWPTTWOOKJNOISKPPIQIRLT" + "OWNTLJROROPNUNQPGOIFKKOILIQ" + "OPMQKKMGPMOKMISPIKLJSNNMGOM"
