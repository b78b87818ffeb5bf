package atspi

import (
	"html"
	"regexp"
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// setFocus is Qt's action that gives an element the keyboard of its window.
const setFocus = "SetFocus"

// inQt corrects the element. Qt reports no links; a label takes the keyboard only if it has some.
func (n *node) inQt(_ *node, e *desktop.Element) {
	if n.role == roleLabel && n.states.has(stateFocusable) && e.States.Has(desktop.Showing) {
		e.Role, e.Actions = desktop.Link, []string{setFocus}
	}
	e.Name, e.Description = withoutTags(e.Name), withoutTags(e.Description)
}

var (
	richText = regexp.MustCompile(`(?i)^\s*<(!doctype html|html|qt)\b`)
	richHead = regexp.MustCompile(`(?is)<(head|style)\b.*?</(head|style)>`)
	richTag  = regexp.MustCompile(`(?s)<[^>]*>`)
)

// withoutTags returns the words of a rich text, such as a tool tip of Qt Designer, which Qt reports with its
// tags. It returns any other text unchanged.
func withoutTags(text string) string {
	if !richText.MatchString(text) {
		return text
	}
	text = richTag.ReplaceAllString(richHead.ReplaceAllString(text, ""), " ")
	return strings.Join(strings.Fields(html.UnescapeString(text)), " ")
}
