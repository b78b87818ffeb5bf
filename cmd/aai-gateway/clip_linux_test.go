package main

import (
	"testing"

	"aai/internal/desktop/linuxtest"
	"aai/internal/desktop/private"
)

// TestTheClipboardStays: what an agent has put on the clipboard is there when its gateway
// has ended.
func TestTheClipboardStays(t *testing.T) {
	s := linuxtest.StartAccessible(t)
	t.Run("gateway", func(t *testing.T) {
		g := onScreen(t, s, `{"consent": {"preapproved": [
			{"app": "desktop", "tools": ["*"], "caller": "*", "expires": "2999-01-01T00:00:00Z"}]}}`)
		if err := g.windowTool(t.Context(), "ax_clipboard", map[string]any{"action": "write", "text": "kept"}); err != nil {
			t.Fatal(err)
		}
	})
	p, err := s.Start(private.Command{Name: "xclip", Args: []string{"-selection", "clipboard", "-out"}})
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if got := p.Output(); got != "kept" {
		t.Errorf("on the clipboard is %q", got)
	}
}
