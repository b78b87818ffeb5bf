package demo

import (
	"context"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
)

// unwantedText is text that the letter must not contain.
const unwantedText = "Nobody is invited."

// demonstrateWorkflows shows combined calls: a failing workflow with rollback, an undone act, and a
// script.
func (w *windowDemo) demonstrateWorkflows(ctx context.Context) error {
	for _, step := range []func(context.Context) error{w.rollBack, w.undo, w.script} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// rollBack runs a workflow with a failing last step.
func (w *windowDemo) rollBack(ctx context.Context) error {
	w.title("Three steps as one: the last one fails, and the others are undone")
	result, err := w.call(ctx, "ax_workflow", map[string]any{"name": "announce", "steps": []any{
		map[string]any{"tool": "ax_get_value", "name": "sum", "args": map[string]any{"app": "calculator", "query": display, "nth": 1}},
		map[string]any{"tool": "ax_set_value", "args": map[string]any{"app": "editor", "query": display, "value": unwantedText + " We are {{sum.value}}."}},
		map[string]any{"tool": "ax_find", "on_fail": "rollback", "args": map[string]any{"app": "editor", "query": "Published"}},
	}}, fullText)
	if err != nil {
		return err
	}
	if said := textOf(result); !result.IsError || !strings.Contains(said, "1 act undone, none is left") {
		return aai.Errorf(aai.AutomationFailed, "the workflow was not rolled back: %s", said)
	}
	if err := w.expectText(ctx, "editor", letter); err != nil {
		return err
	}
	w.printProof("the editor shows the letter as it was")
	return w.takeScreenshot(ctx, "rolledback", "editor")
}

// undo undoes an act of the agent.
func (w *windowDemo) undo(ctx context.Context) error {
	w.title("The agent was wrong: undo")
	if _, err := w.callDesktop(ctx, "set_value", map[string]any{"app": "editor", "query": display, "value": unwantedText}, changedLines); err != nil {
		return err
	}
	if err := w.takeScreenshot(ctx, "wrong", "editor"); err != nil {
		return err
	}
	if _, err := w.callDesktop(ctx, "undo", map[string]any{}, fullText); err != nil {
		return err
	}
	if err := w.expectText(ctx, "editor", letter); err != nil {
		return err
	}
	w.printProof("the editor shows the letter as it was")
	return w.takeScreenshot(ctx, "undone", "editor")
}

// sumScript operates the calculator, and returns the results on its display.
const sumScript = `const shown = [];
for (const sum of args.sums) {
  call("ax_type", {app: "calculator", query: "role:textbox", nth: 1, text: sum, clear_first: true});
  call("ax_key_press", {app: "calculator", key: "return"});
  shown.push(call("ax_get_value", {app: "calculator", query: "role:textbox", nth: 1}).value.trim());
}
shown.join(" ")`

// script runs many calls in one.
func (w *windowDemo) script(ctx context.Context) error {
	w.title("Nine calls in one: a script")
	result, err := w.callDesktop(ctx, "run_script", map[string]any{"script": sumScript, "args": map[string]any{"sums": []string{"17×3", "2^10", "99+1"}}}, fullText)
	if err != nil {
		return err
	}
	if said := textOf(result); !strings.Contains(said, "51 1024 100") {
		return aai.Errorf(aai.AutomationFailed, "the script answered %q", said)
	}
	w.printProof("17 × 3 = 51, 2¹⁰ = 1024, 99 + 1 = 100")
	return w.takeScreenshot(ctx, "script", "calculator")
}

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
