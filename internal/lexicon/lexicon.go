// Package lexicon holds the words of about thirty languages by which the gateway recognizes the meaning of labels,
// titles, names and requests. It knows words only: callers decide what follows from a meaning.
package lexicon

import (
	"slices"
	"strings"
	"unicode"
)

// list is a list of words or phrases in lower case, each between two bars.
type list string

func (l list) has(word string) bool { return word != "" && strings.Contains(string(l), "|"+word+"|") }

// IsAffirmative reports whether a button label means yes without its own verb ("OK", "Ja", "はい").
func IsAffirmative(label string) bool {
	return affirmative.has(strings.ToLower(strings.Trim(strings.TrimSpace(label), ".!… ")))
}

const affirmative list = "|yes|ok|okay|continue|confirm|proceed|accept|agree|i agree|i understand|sure|allow|" +
	"ja|weiter|fortfahren|bestätigen|oui|continuer|confirmer|accepter|valider|sí|si|continuar|confirmar|aceptar|aceitar|sim|" +
	"continua|conferma|accetta|sì|doorgaan|bevestigen|да|ок|продолжить|подтвердить|так|продовжити|підтвердити|tak|potwierdź|kontynuuj|ano|pokračovat|potvrdit|" +
	"evet|tamam|devam|onayla|ναι|fortsätt|bekräfta|fortsæt|bekræft|jatka|kyllä|igen|folytatás|da|continuă|confirmă|" +
	"是|确定|确认|继续|好|確定|確認|繼續|はい|続行|続ける|예|네|확인|계속|نعم|موافق|متابعة|כן|אישור|हाँ|हां|ठीक|có|đồng ý|tiếp tục|ya|lanjutkan|"

// IsNegation reports whether a word, in lower case, negates others.
func IsNegation(word string) bool {
	has := func(affix string) bool { return len(word) > len(affix) && strings.HasSuffix(word, affix) }
	return negations.has(word) || slices.ContainsFunc([]string{"meden", "madan", "meyin", "mayın", "matta", "mättä", "mata"}, has) || // kaydetmeden, tallentamatta
		strings.Contains(word, "않") || strings.Contains(word, "없") // 않음, 않기, 없음
}

// negations are negating words of languages that separate words. If such a word has another meaning in
// another language, names with it must be given in full.
const negations list = "|no|not|dont|never|without|except|none|cannot|nothing|neither|nor|cancel|disable|deactivate|unless|non|stop|undo|skip|reject|decline|avoid|" + // English
	"nicht|ohne|kein|keine|keinen|keinem|keiner|nie|niemals|nichts|außer|" + // German
	"ne|pas|sans|jamais|aucun|aucune|rien|n|sauf|" + // French
	"sin|nunca|jamás|ningún|ninguno|ninguna|excepto|sense|mai|ez|gabe|sen|" + // Spanish, Catalan, Basque, Galician
	"senza|nessuno|nessuna|niente|eccetto|" + // Italian
	"não|nao|sem|nenhum|nenhuma|jamais|exceto|" + // Portuguese
	"nu|fără|fara|niciodată|" + // Romanian
	"niet|zonder|geen|nooit|behalve|nie|sonder|" + // Dutch, Afrikaans
	"inte|utan|ingen|inga|aldrig|ikke|ikkje|uden|uten|aldri|ekki|án|aldrei|" + // of Scandinavia
	"ei|älä|ilman|ära|ilma|" + // Finnish, Estonian
	"nem|ne|nélkül|soha|" + // Hungarian
	"bez|nigdy|není|žádný|nikdy|nikoli|brez|nikoli|nije|nikad|nē|" + // of the Slavs in Latin letters, Latvian
	"не|без|никогда|нет|кроме|нельзя|ні|ніколи|немає|няма|никога|никад|" + // and in Cyrillic
	"δεν|μην|μη|χωρίς|όχι|ποτέ|" + // Greek
	"değil|hayır|olmadan|yok|asla|" + // Turkish
	"לא|בלי|ללא|אל|אין|" + "لا|لن|لم|ليس|بدون|دون|عدم|غير|نه|بدونِ|نہیں|بغیر|مت|" + // Hebrew, Arabic, Persian, Urdu
	"नहीं|बिना|मत|न|না|ছাড়া|" + // Hindi, Bengali, Tamil
	"안|못|없이|" + // Korean
	"không|đừng|chưa|jangan|tidak|tanpa|bukan|huwag|hindi|bila|usi|" // Vietnamese, Malay, Tagalog, Swahili

// IsWidening reports whether a word, in lower case, widens the effect of an action: all, for ever.
func IsWidening(word string) bool { return widening.has(word) }

const widening list = "|all|every|everything|everyone|everybody|everywhere|always|forever|permanently|entire|whole|" +
	"alle|alles|allen|aller|überall|immer|endgültig|ganze|ganzen|tout|tous|toute|toutes|partout|toujours|définitivement|" +
	"todo|todos|toda|todas|siempre|tutti|tutte|tutto|sempre|"

// IsReloadLabel reports whether a label means a reload that replaces the current content.
func IsReloadLabel(label string) bool {
	label = strings.ToLower(label)
	words := strings.FieldsFunc(label, func(r rune) bool { return !unicode.IsLetter(r) })
	return slices.ContainsFunc(words, reloads.has) || strings.Contains(label, "neu laden")
}

const reloads list = "|reload|refresh|revert|neuladen|aktualisieren|recharger|actualiser|actualizar|recargar|ricarica|aggiorna|" +
	"recarregar|atualizar|vernieuwen|обновить|перезагрузить|刷新|重新加载|重新整理|再読み込み|새로고침|"

// IsUnsavedTitle reports whether a window title marks unsaved changes: by a star or dot at the
// document's name, or by a word. Not every program marks them.
func IsUnsavedTitle(title string) bool {
	if strings.HasPrefix(title, "*") || strings.HasPrefix(title, "•") || strings.HasPrefix(title, "●") {
		return true
	}
	for _, word := range strings.Fields(title) {
		if strings.HasSuffix(word, "*") || word == "●" || word == "•" {
			return true
		}
	}
	lower := strings.ToLower(title)
	return slices.ContainsFunc([]string{
		"[modified]", "(modified)", "[unsaved]", "(unsaved)", "— edited", "[geändert]", "(geändert)", "[modifié]", "(modifié)", "[modificado]", "(modificado)", "[modificat",
		"[изменён]", "[изменено]", "[已修改]", "（已修改）", "[変更済み]",
	}, func(mark string) bool { return strings.Contains(lower, mark) })
}

// DatePart is a part of a date or a time.
type DatePart int

// The parts of a date or a time.
const (
	NoDatePart DatePart = iota
	Year
	Month
	Day
	Hour
	Minute
	Second
	Millisecond
)

// ParseDatePart returns the part of a date or a time with the name, or NoDatePart.
func ParseDatePart(name string) DatePart {
	name = strings.ToLower(name)
	for _, p := range []struct {
		part  DatePart
		names list
	}{
		{Year, "|year|jahr|année|año|anno|ano|jaar|rok|год|年|연도|"},
		{Month, "|month|monat|mois|mes|mese|mês|maand|miesiąc|месяц|月|월|"},
		{Day, "|day|tag|jour|día|giorno|dia|dag|dzień|день|日|일|"},
		{Hour, "|hours|stunden|heures|horas|ore|uren|godziny|часы|小时|時|시간|"},
		{Minute, "|minutes|minuten|minutos|minuti|minuty|минуты|分钟|分|분|"},
		{Second, "|seconds|sekunden|secondes|segundos|secondi|seconden|sekundy|секунды|秒|초|"},
		{Millisecond, "|milliseconds|millisekunden|millisecondes|milisegundos|millisecondi|milliseconden|миллисекунды|毫秒|밀리초|"},
	} {
		if p.names.has(name) {
			return p.part
		}
	}
	return NoDatePart
}

// IsFiller reports whether a word of a request, in lower case, carries no meaning for a search.
func IsFiller(word string) bool { return fillers.has(word) }

// IsQuestion reports whether a request is a question by its first word, such as "how" or "wie".
func IsQuestion(request string) bool {
	first, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(request)), " ")
	return questions.has(strings.TrimRight(first, "'s’"))
}

// IsParticle reports whether a word of a request, in lower case, completes a verb or says a time, such as "back" in
// "cut back".
func IsParticle(word string) bool { return particles.has(word) }

const particles list = "|up|down|out|off|away|back|over|now|just|right|again|still|ahead|around|along|through|" +
	"ab|weg|los|jetzt|gerade|"

const questions list = "|what|which|who|whose|how|why|where|when|is|are|am|do|does|did|has|have|was|were|wer|wie|wo|wann|warum|" +
	"welche|welcher|welches|ist|sind|hat|"

const fillers list = "|a|an|the|of|to|in|on|at|by|for|from|with|into|and|or|as|so|than|then|is|are|am|be|been|was|were|do|does|did|" +
	"has|have|had|can|could|will|would|should|may|i|me|my|mine|we|us|our|you|your|it|its|this|that|these|those|" +
	"there|here|they|their|what|which|who|whose|how|why|where|when|please|some|any|if|not|no|s|t|m|let|lets|want|" +
	"need|about|der|die|das|den|dem|des|ein|eine|einen|einem|einer|ist|sind|und|oder|mit|von|vom|zu|zum|zur|im|auf|" +
	"aus|für|bitte|mir|mich|ich|wie|wer|welche|welcher|welches|diese|dieser|dieses|mein|meine|es|"
