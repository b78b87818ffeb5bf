package atspi

import (
	"path"
	"strings"
	"unicode/utf8"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// nameHints are by what a thing without words is told from others: what a web page says of it.
type nameHints struct {
	tag, class, picture string
	isOwnName           bool // its name is the page's, and not the browser's
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

// How long a sign may be, and the words of a thing that is pressed as a whole.
const (
	maxFallbackName = 48
	maxPressed      = 160
)

// fallbackName is by what a thing without words can be told: the file of its picture and its class,
// such as "trash.png .icon.delete", or its tag. It is one that cannot be taken for words.
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

// pictureName is the name of a picture's file.
func pictureName(address string) string {
	address, _, _ = strings.Cut(address, "?")
	name := path.Base(address)
	if address == "" || strings.HasPrefix(address, "data:") || !strings.Contains(name, ".") || len(name) >= maxFallbackName || !isPlainWord(name) {
		return ""
	}
	return name
}

// isPlainWord reports whether a word is one that programs use.
func isPlainWord(word string) bool {
	for _, c := range word {
		if c > 'z' || c < '-' || strings.ContainsRune("/:;<=>?@[\\]^`", c) {
			return false
		}
	}
	return word != ""
}

// call calls an element that is pressed, though it is of no kind that is, by what is written
// on it, and one without any words by its sign.
func (n *node) call(e *desktop.Element) {
	if !n.detailed {
		return
	}
	if n.role == roleImage && n.nameHints.tag != "" && !n.nameHints.isOwnName {
		e.Name = "" // it says, in the person's language, that the page does not say what it is
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

// isWritten reports whether all that is written on the node is known by what is in it.
func (n *node) isWritten() bool {
	return n.count > 0 && n.count == len(n.children) && !n.states.has(stateEditable)
}

// writing returns the words of the node's descendants, in their order, and whether they are
// whole: most is their limit in bytes.
func (n *node) writing(most int) (words string, whole bool) {
	var b strings.Builder
	whole = n.write(&b, most)
	words = strings.Join(strings.Fields(b.String()), " ")
	return cut(words, most), whole && len(words) <= most
}

// write appends the words of the node's descendants, and reports false if it stops at the limit.
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

// inline reports whether what has the role stands in a line of text.
func inline(r roleNumber) bool {
	switch r {
	case roleStatic, roleLink, roleSubscript, roleSuperscript, roleDeletion, roleInsertion, roleMark, roleSuggestion:
		return true
	}
	return false
}
