package gui_test

import (
	"context"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui"
)

// TestSessionInfoOfTheGateway checks the figures that other packages give.
func TestSessionInfoOfTheGateway(t *testing.T) {
	app := gui.New(gui.Config{
		Open: func() desktop.Backend { return desktop.Backend{} }, SecurityMode: func() string { return "safe" },
		UndoDepth: func(context.Context, aai.Caller) (int, error) { return 3, nil },
	})
	ctx := aai.WithClientCapabilities(t.Context(), aai.ClientCapabilities{Subscriptions: func() int { return 2 }})
	result, err := app.Tool("ax_session_info").Run(ctx, &aai.Call{App: aai.DesktopApp, Tool: "ax_session_info"})
	assert.NilError(t, err)
	info, _ := result.Data.(map[string]any)
	for name, want := range map[string]any{"security_mode": "safe", "undo_stack_depth": 3, "subscriptions": 2} {
		assert.Check(t, is.Equal(info[name], want), name)
	}
}
