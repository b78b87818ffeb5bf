package snapview

import (
	"strings"
	"unicode"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// Fires is 1 for what fires, and 0 for what does not.
func (s *RefSnapshot) Fires(i int) int {
	if i >= 0 && s.Snapshot.Elements[i].Role.IsPressable() {
		return 1
	}
	return 0
}

// DropTexts says of each element that something is dragged onto it: to let go over what is
// called "Trash", or lies in what is, is another thing than to open it.
func (s *RefSnapshot) DropTexts(onto []int) (says []string) {
	for _, i := range onto {
		if i < 0 {
			continue
		}
		for _, text := range s.ReadableTexts(i) {
			if text = strings.TrimSpace(text); text != "" {
				says = append(says, "onto "+text)
			}
		}
	}
	return says
}

// maxRead is how many elements in another are read.
const maxRead = 12

// isTrashIcon reports whether what stands in the place of a thing's words, the class of an icon
// or the file of its picture, is a bin: what is called so in words may be the bin's folder.
func isTrashIcon(sign string) bool {
	for word := range strings.FieldsFuncSeq(strings.ToLower(sign), func(r rune) bool { return !unicode.IsLetter(r) }) {
		switch word {
		case "bin", "dustbin", "garbage", "rubbish", "wastebasket":
			return true
		}
		if strings.Contains(word, "trash") { // trashcan, TrashIcon
			return true
		}
	}
	return false
}

// ReadableTexts is what is to be read on the element, and in what fires.
func (s *RefSnapshot) ReadableTexts(i int) []string {
	e := &s.Snapshot.Elements[i]
	says := []string{e.Name, e.Description}
	if e.Name == "" && isTrashIcon(e.Description) {
		says = append(says, "delete")
	}
	if desktop.IsBlank(e.Name) && e.Role.IsPressable() {
		says = append(says, e.Identifier)
	}
	if TakesText(e) || e.Parent < 0 {
		return says
	}
	for c := i + 1; c < min(e.End, i+1+maxRead); c++ {
		says = append(says, s.Snapshot.Elements[c].Name)
		if desktop.IsBlank(e.Name) {
			says = append(says, s.Snapshot.Elements[c].Description)
		}
	}
	if e.Role.IsPressable() && isAffirmative(e.Name) {
		says = append(says, s.promptText(i)...)
	}
	for up := e.Parent; up >= 0 && s.Snapshot.Elements[up].Parent >= 0 && !s.Snapshot.Elements[up].Role.IsRefContainer(); up = s.Snapshot.Elements[up].Parent {
		says = append(says, s.containerName(up, i), s.Snapshot.Elements[up].Description)
	}
	return says
}

// containerName is the name of what the element is in. Where that is made of the words within, those
// on other things to press are none of it: "Place order" beside "Save draft".
func (s *RefSnapshot) containerName(up, i int) string {
	outer := &s.Snapshot.Elements[up]
	if !outer.Role.IsTextual() && !outer.Role.IsSetMember() {
		return outer.Name
	}
	name := outer.Name
	for c := up + 1; c < min(outer.End, up+1+8*maxRead) && name != ""; c++ {
		if e := &s.Snapshot.Elements[c]; (e.End <= i || c >= s.Snapshot.Elements[i].End) && e.Role.IsPressable() && e.Name != "" {
			name = strings.Replace(name, e.Name, "·", 1)
		}
	}
	return name
}
