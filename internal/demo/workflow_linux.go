package demo

import (
	"context"
	"strings"

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
