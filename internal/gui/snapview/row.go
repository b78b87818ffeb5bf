package snapview

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// Limits for the row text in a reply about an element.
const (
	maxRow     = 240 // bytes of all words
	maxRowWord = 60  // bytes of one word
	maxCard    = 40  // maximum of elements in a container that is no row but shown as one
)

// Row returns the texts beside the element in its row, card or list item, interactive ones with
// their ref: "37", "30.11 EUR", button "Buy" [e42]. It returns "" if there is no row, or nothing
// else in it.
func (s *RefSnapshot) Row(i int) string {
	all := s.Snapshot.Elements
	for p := i; p >= 0; p = all[p].Parent {
		e := &all[p]
		line := e.Role == desktop.Row || e.Role == desktop.ListItem || e.Role == desktop.Option || e.Role == desktop.TreeItem || e.Role == desktop.Article
		switch {
		case p == i && !line:
			continue
		case !line && (e.Role.IsTextual() || e.Role.IsRefContainer() || e.End-p > maxCard || e.Parent < 0):
			return ""
		}
		if words := s.rowWords(p, i); words != "" || line {
			return words
		}
	}
	return ""
}

// rowWords returns the texts in a row, without the element itself.
func (s *RefSnapshot) rowWords(row, but int) string {
	var told, texts []string
	length := 0
	s.eachText(row, but, func(j int, text string) bool {
		if slices.Contains(texts, text) {
			return true
		}
		e := &s.Snapshot.Elements[j]
		word := desktop.Quote(text, maxRowWord)
		if e.Role.IsInteractive() || e.States.Has(desktop.Editable) {
			word = string(e.Role) + " " + word + " [" + s.Ref(j) + "]"
		}
		if length += len(word); length > maxRow {
			told = append(told, "…")
			return false
		}
		told, texts = append(told, word), append(texts, text)
		return true
	})
	return strings.Join(told, ", ")
}

// eachText calls f for each visible text in the element, without the element but, until f returns
// false. If a container has the text of a child, as a cell of its button, only the child counts.
func (s *RefSnapshot) eachText(of, but int, f func(i int, text string) bool) {
	all := s.Snapshot.Elements
	seen := s.Snapshot.IsVisible(of)
	for j := of + 1; j < all[of].End; j++ {
		e := &all[j]
		if j == but {
			j = e.End - 1
			continue
		}
		text := strings.TrimSpace(cmp.Or(e.Name, e.Value))
		if e.States.Has(desktop.Protected) || seen && !e.States.Has(desktop.Showing) || text == "" || j < but && but < e.End {
			continue
		}
		if j+1 < e.End && slices.ContainsFunc(all[j+1:e.End], func(in desktop.Element) bool { return strings.TrimSpace(in.Name) == text }) {
			continue
		}
		if !f(j, text) {
			return
		}
	}
}
