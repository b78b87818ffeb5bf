package atspi

import (
	"cmp"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// mayPrompt reports whether the node may be a part of a browser's own prompt: an alert, or in Chromium a
// container in an alert or a dialog.
func (p *program) mayPrompt(n *node) bool {
	if n.role == roleAlert {
		return p.profile().IsBrowser
	}
	if n.role != rolePanel || !p.profile().hasPromptPanels {
		return false
	}
	for up := n.parent; up != nil; up = up.parent {
		if up.role == roleAlert || up.role == roleDialog {
			return true
		}
	}
	return false
}

// called returns the author's identifier of the node: for a chooser its kind, and for untagged containers
// in Chromium's own windows their class.
func (n *node) called() string {
	switch n.role {
	case roleColorChooser:
		return desktop.ColorChooser
	case roleFileChooser:
		return desktop.FileChooser
	case roleFontChooser:
		return desktop.FontChooser
	case rolePanel:
		if n.nameHints.tag == "" {
			return cmp.Or(n.identifier, n.nameHints.class)
		}
	}
	return n.identifier
}
