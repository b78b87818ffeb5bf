package atspi

import (
	"cmp"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// mayPrompt reports whether the node may be a part of a browser's own prompt: an alert, or in
// Chromium what holds others in an alert or a dialog.
func (p *program) mayPrompt(n *node) bool {
	if n.role == roleAlert {
		return browser(p.currentTraits().toolkit)
	}
	if n.role != rolePanel || p.currentTraits().toolkit != chromium {
		return false
	}
	for up := n.parent; up != nil; up = up.parent {
		if up.role == roleAlert || up.role == roleDialog {
			return true
		}
	}
	return false
}

// called returns what the app's author calls the node: a chooser by its kind, and what holds
// others in Chromium's own windows, which have no tags, by its class.
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
