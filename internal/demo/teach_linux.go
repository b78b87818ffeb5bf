package demo

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
)

// shownText is the text that the person adds to the letter during the recording.
const shownText = "P.S. The pie is in the oven."

// teach records the acts of the person in the editor, and replays them.
func (w *windowDemo) teach(ctx context.Context) error {
	w.title("Teaching by showing: the person does it once, and the agent does it again")
	w.person.expected = inputState{} // they leave their window
	if _, err := w.recording(ctx, aai.DesktopApp, "ax_record", map[string]any{"app": "editor"}); err != nil {
		return err
	}
	for _, keys := range [][]string{
		{"search", "--sync", "--onlyvisible", "--class", "mousepad", "windowactivate", "--sync"},
		{"key", "ctrl+End"}, {"type", "--delay", "40", shownText}, {"key", "ctrl+s"},
	} {
		if _, err := w.person.session.output(ctx, "xdotool", keys...); err != nil {
			return aai.Errorf(aai.AutomationFailed, "the person cannot write in the editor: %w", err)
		}
	}
	w.line("·", "the person (played by xdotool) writes: "+shownText)
	var recorded struct {
		Result struct {
			Steps []map[string]any `json:"steps"`
		} `json:"result"`
	}
	result, err := w.recording(ctx, aai.BuiltinApp, "recording_stop", map[string]any{})
	if err == nil {
		err = remarshal(result.StructuredContent, &recorded)
	}
	if err != nil {
		return err
	}
	if err := w.takeScreenshot(ctx, "recorded", "editor"); err != nil {
		return err
	}
	if _, err := w.callDesktop(ctx, "set_value", map[string]any{"app": "editor", "query": display, "value": letter}, changedLines); err != nil {
		return err
	}
	if _, err := w.callDesktop(ctx, "workflow", map[string]any{"name": "postscript", "steps": recorded.Result.Steps}, fullText); err != nil {
		return err
	}
	if err := w.expectText(ctx, "editor", letter+shownText); err != nil {
		return err
	}
	w.line("✓", "the editor shows what the person wrote")
	if err := w.takeScreenshot(ctx, "replayed", "editor"); err != nil {
		return err
	}
	return w.person.sitDown(ctx)
}

// recording calls a tool about the recording, which must succeed.
func (w *windowDemo) recording(ctx context.Context, app, tool string, args map[string]any) (*mcp.CallToolResult, error) {
	result, err := w.call(ctx, "aai_exec", map[string]any{"app": app, "tool": tool, "args": args}, func(answer string) string { return aai.CleanLabel(answer, 300) })
	if err == nil && result.IsError {
		err = aai.Errorf(aai.AutomationFailed, "%s failed", tool)
	}
	return result, err
}
