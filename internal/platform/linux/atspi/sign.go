package atspi

import (
	"path"
	"strings"
	"unicode/utf8"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// nameHints are attributes of a web page that identify an element without text.
type nameHints struct {
	tag, class, picture string
	isOwnName           bool // the page set the name, not the browser
}

// take takes one of an object's attributes.
func (s *nameHints) take(key, value string) {
	switch key {
	case "tag":
		s.tag = value
	case "class":
		s.class = value
	case "src":
		s.picture = value
	case "name-from", "explicit-name":
		s.isOwnName = true
	}
}

// The maximum lengths of a fallback name, in bytes, and of a pressed element's text, in characters.
const (
	maxFallbackName = 48
	maxPressed      = 160
)

// fallbackName returns a description of an element without text: the file of its picture and its class,
// such as "trash.png .icon.delete", or its tag. It cannot be mistaken for words.
func (n *node) fallbackName() string {
	own := &n.nameHints
	picture := pictureName(own.picture)
	for i := 0; picture == "" && i < len(n.children); i++ {
		picture = pictureName(n.children[i].nameHints.picture)
	}
	sign := picture
	class := ""
	for _, word := range strings.Fields(own.class) {
		if isPlainWord(word) && len(sign)+len(class)+len(word) < maxFallbackName {
			class += "." + word
		}
	}
	sign = strings.TrimSpace(sign + " " + class)
	if sign == "" && isPlainWord(own.tag) {
		sign = "<" + own.tag + ">"
	}
	return sign
}

// pictureName returns the file name of a picture, or "" if the name is long or unusual.
func pictureName(address string) string {
	address, _, _ = strings.Cut(address, "?")
	name := path.Base(address)
	if address == "" || strings.HasPrefix(address, "data:") || !strings.Contains(name, ".") || len(name) >= maxFallbackName || !isPlainWord(name) {
		return ""
	}
	return name
}

// isPlainWord reports whether a word has only characters that are common in identifiers.
func isPlainWord(word string) bool {
	for _, c := range word {
		if c > 'z' || c < '-' || strings.ContainsRune("/:;<=>?@[\\]^`", c) {
			return false
		}
	}
	return word != ""
}

// call names a pressable element without a pressable role by its text, and describes an element without any
// text by its fallback name.
func (n *node) call(e *desktop.Element) {
	if !n.detailed {
		return
	}
	if n.role == roleImage && n.nameHints.tag != "" && !n.nameHints.isOwnName {
		e.Name = "" // the browser's localized notice that the page has no description
	}
	if e.Name == "" && len(e.Actions) > 0 && !e.Role.IsInteractive() && !n.written {
		if words, whole := n.writing(maxPressed * utf8.UTFMax); whole && utf8.RuneCountInString(words) <= maxPressed {
			e.Name = words
		}
	}
	whole := n.count <= 0 || len(n.children) > 0
	if whole && e.IsBlank() && e.Description == "" && e.States.HasAny(desktop.Showing|desktop.Offscreen) && e.IsActionable("") {
		if words, _ := n.writing(1); words == "" {
			e.Description = n.fallbackName()
		}
	}
}

// isWritten reports whether the node's descendants contain all of its text.
func (n *node) isWritten() bool {
	return n.count > 0 && n.count == len(n.children) && !n.states.has(stateEditable)
}

// writing returns the text of the node's descendants, in order, and whether it is complete: most is the
// limit in bytes.
func (n *node) writing(most int) (words string, whole bool) {
	var b strings.Builder
	whole = n.write(&b, most)
	words = strings.Join(strings.Fields(b.String()), " ")
	return cut(words, most), whole && len(words) <= most
}

// write appends the text of the node's descendants, and returns false if it stops at the limit.
func (n *node) write(b *strings.Builder, most int) bool {
	for _, child := range n.children {
		if b.Len() > most {
			return false
		}
		block := !inline(child.role)
		if child.opens || block {
			b.WriteByte(' ')
		}
		if child.name != "" {
			b.WriteString(child.name)
		} else {
			if !child.write(b, most) {
				return false
			}
		}
		if child.closes || block {
			b.WriteByte(' ')
		}
	}
	return true
}

// inline reports whether elements of the role stand within a line of text.
func inline(r roleNumber) bool {
	switch r {
	case roleStatic, roleLink, roleSubscript, roleSuperscript, roleDeletion, roleInsertion, roleMark, roleSuggestion:
		return true
	}
	return false
}
