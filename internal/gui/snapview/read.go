package snapview

import (
	"strings"
	"unicode"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/lexicon"
)

// PressableRank returns 1 for a pressable element, and else 0, as a sort key.
func (s *RefSnapshot) PressableRank(i int) int {
	if i >= 0 && s.Snapshot.Elements[i].Role.IsPressable() {
		return 1
	}
	return 0
}

// DropTexts returns the texts of drop targets with the prefix "onto": a drop on "Trash" differs
// from opening it.
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

// maxRead limits how many descendants of an element are read.
const maxRead = 12

// isTrashIcon reports whether an icon class or image file, in place of a label, is a trash can. A
// text label may also name the trash folder.
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

// ReadableTexts returns the readable texts on the element and its containers.
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
	if e.Role.IsPressable() && lexicon.IsAffirmative(e.Name) {
		says = append(says, s.promptText(i)...)
	}
	for up := e.Parent; up >= 0 && s.Snapshot.Elements[up].Parent >= 0 && !s.Snapshot.Elements[up].Role.IsRefContainer(); up = s.Snapshot.Elements[up].Parent {
		says = append(says, s.containerName(up, i), s.Snapshot.Elements[up].Description)
	}
	return says
}

// containerName returns the name of a container of the element. If its name consists of its
// content, the names of other pressable elements are removed: "Place order" beside "Save draft".
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
