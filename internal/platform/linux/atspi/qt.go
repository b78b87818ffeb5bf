package atspi

import "github.com/gybob/aai-gateway/internal/desktop"

// setFocus is Qt's action that gives an element the keyboard of its window.
const setFocus = "SetFocus"

// inQt corrects the element. Qt reports no links; a label takes the keyboard only if it has some.
func (n *node) inQt(_ *node, e *desktop.Element) {
	if n.role == roleLabel && n.states.has(stateFocusable) && e.States.Has(desktop.Showing) {
		e.Role, e.Actions = desktop.Link, []string{setFocus}
	}
}
