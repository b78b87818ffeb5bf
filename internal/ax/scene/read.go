package scene

import (
	"strings"
	"unicode"

	"aai/internal/desktop"
)

// Fires is 1 for what fires, and 0 for what does not.
func (s *Scene) Fires(i int) int {
	if i >= 0 && s.Shot.Elements[i].Role.Fires() {
		return 1
	}
	return 0
}

// Dropped says of each element that something is dragged onto it: to let go over what is
// called "Trash", or lies in what is, is another thing than to open it.
func (s *Scene) Dropped(onto []int) (says []string) {
	for _, i := range onto {
		if i < 0 {
			continue
		}
		for _, text := range s.ReadOn(i) {
			if text = strings.TrimSpace(text); text != "" {
				says = append(says, "onto "+text)
			}
		}
	}
	return says
}

// maxRead is how many elements in another are read.
const maxRead = 12

// discards reports whether what stands in the place of a thing's words, the class of an icon
// or the file of its picture, is a bin: what is called so in words may be the bin's folder.
func discards(sign string) bool {
	for word := range strings.FieldsFuncSeq(humps(sign), func(r rune) bool { return !unicode.IsLetter(r) }) {
		switch strings.ToLower(word) {
		case "trash", "trashcan", "bin", "dustbin", "garbage", "rubbish", "wastebasket":
			return true
		}
	}
	return false
}

// humps parts the words of such as TrashIcon.
func humps(sign string) string {
	var b strings.Builder
	last := ' '
	for _, r := range sign {
		if unicode.IsUpper(r) && unicode.IsLower(last) {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
		last = r
	}
	return b.String()
}

// ReadOn is what is to be read on the element, and in what fires.
func (s *Scene) ReadOn(i int) []string {
	e := &s.Shot.Elements[i]
	says := []string{e.Name, e.Description}
	if e.Name == "" && discards(e.Description) {
		says = append(says, "delete")
	}
	if desktop.Blank(e.Name) && e.Role.Fires() {
		says = append(says, e.Identifier)
	}
	if TakesText(e) || e.Parent < 0 {
		return says
	}
	for c := i + 1; c < min(e.End, i+1+maxRead); c++ {
		says = append(says, s.Shot.Elements[c].Name)
		if desktop.Blank(e.Name) {
			says = append(says, s.Shot.Elements[c].Description)
		}
	}
	if e.Role.Fires() && agrees(e.Name) {
		says = append(says, s.question(i)...)
	}
	for up := e.Parent; up >= 0 && s.Shot.Elements[up].Parent >= 0 && !s.Shot.Elements[up].Role.Holds(); up = s.Shot.Elements[up].Parent {
		says = append(says, s.Shot.Elements[up].Name, s.Shot.Elements[up].Description)
	}
	return says
}

// agrees reports whether what is called so says yes to what was asked, and not to what.
func agrees(name string) bool {
	const words = "|yes|ok|okay|continue|confirm|proceed|accept|agree|i agree|i understand|sure|apply|allow|" +
		"ja|weiter|fortfahren|bestätigen|oui|continuer|confirmer|accepter|valider|sí|si|continuar|confirmar|aceptar|aceitar|sim|" +
		"continua|conferma|accetta|sì|doorgaan|bevestigen|да|ок|продолжить|подтвердить|так|продовжити|підтвердити|tak|potwierdź|kontynuuj|ano|pokračovat|potvrdit|" +
		"evet|tamam|devam|onayla|ναι|fortsätt|bekräfta|fortsæt|bekræft|jatka|kyllä|igen|folytatás|da|continuă|confirmă|" +
		"是|确定|确认|继续|好|確定|確認|繼續|はい|続行|続ける|예|네|확인|계속|نعم|موافق|متابعة|כן|אישור|हाँ|हां|ठीक|có|đồng ý|tiếp tục|ya|lanjutkan|"
	name = strings.ToLower(strings.Trim(strings.TrimSpace(name), ".!… "))
	return name != "" && strings.Contains(words, "|"+name+"|")
}

// question is what the dialog or the form says that the element answers.
func (s *Scene) question(i int) (says []string) {
	within := s.Asks(i)
	if within < 0 {
		return nil
	}
	says = []string{s.Shot.Elements[within].Name, s.Shot.Elements[within].Description}
	for c := within + 1; c < min(s.Shot.Elements[within].End, within+1+4*maxRead); c++ {
		if e := &s.Shot.Elements[c]; e.Role.Wordy() {
			says = append(says, e.Name, e.Value)
		}
	}
	return says
}
