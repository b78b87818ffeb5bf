package scene

import (
	"strings"
	"unicode/utf8"

	"aai/internal/desktop"
)

// agrees reports whether what is called so says yes to what was asked, and not to what.
func agrees(name string) bool {
	const words = "|yes|ok|okay|continue|confirm|proceed|accept|agree|i agree|i understand|sure|allow|" +
		"ja|weiter|fortfahren|bestätigen|oui|continuer|confirmer|accepter|valider|sí|si|continuar|confirmar|aceptar|aceitar|sim|" +
		"continua|conferma|accetta|sì|doorgaan|bevestigen|да|ок|продолжить|подтвердить|так|продовжити|підтвердити|tak|potwierdź|kontynuuj|ano|pokračovat|potvrdit|" +
		"evet|tamam|devam|onayla|ναι|fortsätt|bekräfta|fortsæt|bekræft|jatka|kyllä|igen|folytatás|da|continuă|confirmă|" +
		"是|确定|确认|继续|好|確定|確認|繼續|はい|続行|続ける|예|네|확인|계속|نعم|موافق|متابعة|כן|אישור|हाँ|हां|ठीक|có|đồng ý|tiếp tục|ya|lanjutkan|"
	name = strings.ToLower(strings.Trim(strings.TrimSpace(name), ".!… "))
	return name != "" && strings.Contains(words, "|"+name+"|")
}

// question is what the dialog or the form says that the element answers: its name, headings and
// sentences. The words beside its fields are none: "Format" is also a paper's.
func (s *Scene) question(i int) (says []string) {
	within := s.Asks(i)
	if within < 0 {
		return nil
	}
	asks := &s.Shot.Elements[within]
	says = []string{asks.Name, asks.Description}
	for c := within + 1; c < min(asks.End, within+1+4*maxRead); c++ {
		e := &s.Shot.Elements[c]
		for _, text := range []string{e.Name, e.Value} {
			if e.Role.Wordy() && (e.Role == desktop.Heading || sentence(text)) {
				says = append(says, text)
			}
		}
	}
	return says
}

// sentence reports whether a text ends as sentences do.
func sentence(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(text, " \u00a0\n\"'”’»)"))
	return strings.ContainsRune(".!?…。！？؟।", last)
}
