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
	richText  = regexp.MustCompile(`(?i)^\s*<(!doctype html|html|qt)\b`)
	richHead  = regexp.MustCompile(`(?is)<head\s*>.*?</head\s*>|<style\b[^>]*>.*?</style\s*>`)
	richBlock = regexp.MustCompile(`(?is)</?(p|div|br|hr|li|ul|ol|h[1-6]|table|tr|td|th|body|html|qt)\b[^>]*>`)
	richTag   = regexp.MustCompile(`(?s)<[^>]*>`)
)

// withoutTags returns the words of a rich text, such as a tool tip of Qt Designer, which Qt reports with its
// tags. It returns any other text unchanged, and one with pictures, whose names may say more than the words.
func withoutTags(text string) string {
	if !richText.MatchString(text) || strings.Contains(strings.ToLower(text), "<img") {
		return text
	}
	words := richHead.ReplaceAllString(text, "")
	words = richTag.ReplaceAllString(richBlock.ReplaceAllString(words, " "), "")
	words = strings.Join(strings.Fields(html.UnescapeString(words)), " ")
	if words == "" {
		return text
	}
	return words
}
