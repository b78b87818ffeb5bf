package snapview

import (
	"strings"
	"unicode/utf8"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// isAffirmative reports whether a button label means yes without its own verb ("OK", "Ja", "はい").
func isAffirmative(name string) bool {
	const words = "|yes|ok|okay|continue|confirm|proceed|accept|agree|i agree|i understand|sure|allow|" +
		"ja|weiter|fortfahren|bestätigen|oui|continuer|confirmer|accepter|valider|sí|si|continuar|confirmar|aceptar|aceitar|sim|" +
		"continua|conferma|accetta|sì|doorgaan|bevestigen|да|ок|продолжить|подтвердить|так|продовжити|підтвердити|tak|potwierdź|kontynuuj|ano|pokračovat|potvrdit|" +
		"evet|tamam|devam|onayla|ναι|fortsätt|bekräfta|fortsæt|bekræft|jatka|kyllä|igen|folytatás|da|continuă|confirmă|" +
		"是|确定|确认|继续|好|確定|確認|繼續|はい|続行|続ける|예|네|확인|계속|نعم|موافق|متابعة|כן|אישור|हाँ|हां|ठीक|có|đồng ý|tiếp tục|ya|lanjutkan|"
	name = strings.ToLower(strings.Trim(strings.TrimSpace(name), ".!… "))
	return name != "" && strings.Contains(words, "|"+name+"|")
}

// promptText returns the text of the dialog or form that the element answers: name, headings and
// sentences, or all text if it has no fields. Labels of fields do not count: "Format" may be a
// paper's. Outside of both it returns the sentence before the element.
func (s *RefSnapshot) promptText(i int) (says []string) {
	within := s.FormOrDialogOf(i)
	if within < 0 {
		return s.sentenceBefore(i)
	}
	asks := &s.Snapshot.Elements[within]
	says = []string{asks.Name, asks.Description}
	bare := !s.hasFields(within)
	for c := within + 1; c < min(asks.End, within+1+4*maxRead); c++ {
		e := &s.Snapshot.Elements[c]
		for _, text := range []string{e.Name, e.Value} {
			if e.Role.IsTextual() && (bare || e.Role == desktop.Heading || sentence(text)) {
				says = append(says, text)
			}
		}
		if TakesText(e) && (sentence(e.Name) || len(strings.Fields(e.Name)) > 3) { // the question of a page's prompt is the name of its field
			says = append(says, e.Name)
		}
	}
	return says
}

// hasFields reports whether the element contains something to fill in or choose. A single check box
// does not count: it means "do not ask again".
func (s *RefSnapshot) hasFields(within int) bool {
	boxes := 0
	for i := within + 1; i < s.Snapshot.Elements[within].End; i++ {
		switch e := &s.Snapshot.Elements[i]; {
		case e.Role == desktop.Checkbox || e.Role == desktop.Radio || e.Role == desktop.Switch:
			boxes++
		case e.Role == desktop.Listbox || e.Role.IsInputOrItem() && e.Role != desktop.Link:
			return true
		}
	}
	return boxes > 1
}

// sentenceBefore returns the nearest sentence before the element, with at most other buttons
// between them.
func (s *RefSnapshot) sentenceBefore(i int) []string {
	const near = 8
	for c := i - 1; c >= max(0, i-near); c-- {
		e := &s.Snapshot.Elements[c]
		switch {
		case e.Role.IsTextual() && sentence(e.Name) && !s.fires(c):
			return []string{e.Name}
		case e.Role.IsInteractive() && !e.Role.IsPressable():
			return nil
		}
	}
	return nil
}

// fires reports whether the element is pressable, or inside a pressable one.
func (s *RefSnapshot) fires(i int) bool {
	for ; i >= 0; i = s.Snapshot.Elements[i].Parent {
		if s.Snapshot.Elements[i].Role.IsPressable() {
			return true
		}
	}
	return false
}

// sentence reports whether a text ends like a sentence.
func sentence(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(text, " \u00a0\n\"'”’»)"))
	return strings.ContainsRune(".!?…。！？؟।", last)
}
