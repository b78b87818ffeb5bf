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
		says = append(says, s.around(up, i), s.Shot.Elements[up].Description)
	}
	return says
}

// around is the name of what the element is in. Where that is made of the words within, those
// on other things to press are none of it: "Place order" beside "Save draft".
func (s *Scene) around(up, i int) string {
	outer := &s.Shot.Elements[up]
	if !outer.Role.Wordy() && !outer.Role.InSet() {
		return outer.Name
	}
	name := outer.Name
	for c := up + 1; c < min(outer.End, up+1+8*maxRead) && name != ""; c++ {
		if e := &s.Shot.Elements[c]; (e.End <= i || c >= s.Shot.Elements[i].End) && e.Role.Fires() && e.Name != "" {
			name = strings.Replace(name, e.Name, "·", 1)
		}
	}
	return name
}
