package snapview

import (
	"strings"
	"unicode/utf8"

	"github.com/gybob/aai-gateway/internal/desktop"
)

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
