package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// TestTypingWaitsForAnothersQuestion: an admitted call, through the whole path, waits for a
// question of another gateway of the user, and continues afterwards. Its program does not count as
// hanging.
func TestTypingWaitsForAnothersQuestion(t *testing.T) {
	s := linuxtest.StartAccessible(t)
	const config = `{"consent": {"preapproved": [
		{"app": "desktop/mousepad", "tools": ["*"], "caller": "*", "expires": "2999-01-01T00:00:00Z"}]}}`
	types, asks := onScreen(t, s, config), onScreen(t, s, config)
	s.Launch(t, "mousepad", "--disable-server")
	awaitTitle(t, s, "Mousepad")
	err := types.windowTool(t.Context(), "ax_find", map[string]any{"app": "mousepad", "query": "role:textbox"})
	assert.Assert(t, err == nil, err)
	typed := make(chan *aai.Error, 1)
	go func() {
		typed <- types.windowTool(t.Context(), "ax_type", map[string]any{
			"app": "mousepad", "query": "role:textbox", "mode": "focus", "text": strings.Repeat("\t\t ", 4_000),
		})
	}()
	awaitTitle(t, s, "*") // the text has changed
	ctx, cancel := context.WithCancel(t.Context())
	asked := make(chan error, 1)
	var answer aai.Answer
	go func() {
		var err error
		answer, err = asks.dialog.Ask(ctx, aai.Question{
			ID: "q", Title: "Allow it?", Channels: []aai.Channel{aai.DesktopDialog},
			Choices: []aai.Choice{{ID: "deny", Label: "Deny"}, {ID: "once", Label: "Allow once"}},
		})
		asked <- err
	}()
	awaitTitle(t, s, "AAI Gateway")
	select {
	case err := <-typed:
		t.Fatalf("it did not wait for the answer: %v", err)
	case err := <-asked:
		t.Fatalf("%+v, %v, and nobody was there", answer, err)
	case <-time.After(3 * time.Second):
	}
	cancel()
	assert.Check(t, (<-asked) != nil, "%+v, and nobody was there", answer)
	// Another test checks the window's final content.
	err = <-typed
	assert.Check(t, err == nil || err.Code != aai.RateLimited && err.Code != aai.Timeout, "it did not go on: %v", err)
	err = types.windowTool(t.Context(), "ax_get_tree", map[string]any{"app": "mousepad"})
	assert.Check(t, err == nil, "the program counts as one that hangs: %v", err)
}

// awaitTitle waits until the focused window has the text in its title.
func awaitTitle(t *testing.T, s *linuxtest.Session, part string) {
	t.Helper()
	for until := time.Now().Add(patienceOnScreen); !strings.Contains(s.ActiveWindow(t), part); time.Sleep(5 * time.Millisecond) {
		assert.Assert(t, !time.Now().After(until), "no window %q has come up", part)
	}
}
