package query

import (
	"slices"
	"strings"
)

// countNegations counts the words of a text that negate others.
func countNegations(text string, words []string) int {
	n := 0
	for i, word := range words {
		if isNegation(word) || word == "t" && i > 0 && strings.HasSuffix(words[i-1], "n") { // isn't, won't
			n++
		}
	}
	return n + strings.Count(" "+strings.ToLower(text), " un-")
}

func isNegation(word string) bool {
	if strings.Contains(negations, " "+word+" ") {
		return true
	}
	has := func(affix string) bool { return len(word) > len(affix) && strings.HasSuffix(word, affix) }
	return slices.ContainsFunc(strings.Fields(negatingEnds), has) ||
		slices.ContainsFunc(strings.Fields(negatingParts), func(part string) bool { return strings.Contains(word, part) })
}

// negations are negating words of languages that separate words. If such a word has another meaning in
// another language, names with it must be given in full.
const negations = " no not dont never without except none cannot nothing neither nor cancel disable deactivate unless non stop undo skip reject decline avoid " + // English
	"nicht ohne kein keine keinen keinem keiner nie niemals nichts außer " + // German
	"ne pas sans jamais aucun aucune rien n sauf " + // French
	"sin nunca jamás ningún ninguno ninguna excepto sense mai ez gabe sen " + // Spanish, Catalan, Basque, Galician
	"senza nessuno nessuna niente eccetto " + // Italian
	"não nao sem nenhum nenhuma jamais exceto " + // Portuguese
	"nu fără fara niciodată " + // Romanian
	"niet zonder geen nooit behalve nie sonder " + // Dutch, Afrikaans
	"inte utan ingen inga aldrig ikke ikkje uden uten aldri ekki án aldrei " + // of Scandinavia
	"ei älä ilman ära ilma " + // Finnish, Estonian
	"nem ne nélkül soha " + // Hungarian
	"bez nigdy není žádný nikdy nikoli brez nikoli nije nikad nē " + // of the Slavs in Latin letters, Latvian
	"не без никогда нет кроме нельзя ні ніколи немає няма никога никад " + // and in Cyrillic
	"δεν μην μη χωρίς όχι ποτέ " + // Greek
	"değil hayır olmadan yok asla " + // Turkish
	"לא בלי ללא אל אין " + "لا لن لم ليس بدون دون عدم غير نه بدونِ نہیں بغیر مت " + // Hebrew, Arabic, Persian, Urdu
	"नहीं बिना मत न না ছাড়া " + // Hindi, Bengali, Tamil
	"안 못 없이 " + // Korean
	"không đừng chưa jangan tidak tanpa bukan huwag hindi bila usi " // Vietnamese, Malay, Tagalog, Swahili

// Some languages negate a word by its ending: kaydetmeden, tallentamatta.
const (
	negatingEnds  = "meden madan meyin mayın matta mättä mata"
	negatingParts = "않 없" // 않음, 않기, 없음
)
