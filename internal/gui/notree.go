package gui

import (
	"context"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/params"
)

// typeWithoutTree types into the focused element of a window without a tree.
func (v *view) typeWithoutTree(ctx context.Context) (*aai.Result, error) {
	if params.Bool(v.call, "clear_first") {
		e := aai.Errorf(aai.InvalidParams, "clear_first: %s does not report its value", aai.CleanLabel(v.app.Name, 60))
		e.Delivery, e.Hint = aai.NotDelivered, "Clear it by keys, with ax_key_press."
		return nil, e
	}
	text := params.String(v.call, "text")
	if params.Bool(v.call, "submit") {
		text += "\n"
	}
	a := action{view: v, index: -1, doneText: "Typed"}
	a.techniques = []technique{v.byKeys(-1, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		return input.Type(ctx, seat, w.ID, text)
	})}
	return a.execute(ctx)
}

// noTreeHint names the tools for a program without a tree.
const noTreeHint = "By its picture: ax_screenshot, then ax_click_at, ax_key_press and ax_type without query."

// frontTitle returns the title of the program's front window; "" if unknown.
func (v *view) frontTitle(ctx context.Context) string {
	if v.noTree {
		w, err := v.windowOf(ctx, -1)
		if err != nil {
			return ""
		}
		return aai.CleanLabel(w.Title, maxRecordedName)
	}
	if top := v.frontTopLevel(ctx); top >= 0 {
		return aai.CleanLabel(v.snapshot.Elements[top].Name, maxRecordedName)
	}
	return ""
}

// executeWithoutTree is execute in a window without a tree.
func (a action) executeWithoutTree(ctx context.Context) (*aai.Result, error) {
	if err := a.announce(ctx, -1); err != nil {
		return nil, err
	}
	a.watchWindow()
	keyboard := a.guardKeyboard(ctx)
	used, err := a.tryTechniques(ctx)
	if err != nil {
		return nil, err
	}
	result := actionResult{Delivered: true, Way: used.name, Changes: []string{}}
	out := &aai.Result{Text: a.doneText + " by " + used.name + "." + a.reportVisualChange(ctx, &result), DataComplete: true}
	a.reportForeignWindows(ctx, &keyboard, &result, out, a.doneText)
	switch {
	case result.Verified:
	case a.screenWatcher != nil && a.screenWatcher.IsAnimated():
		out.Warning = "delivered, but its picture did not change, except where it changes by itself"
	default:
		out.Warning = "delivered, but its picture did not change"
	}
	if keyboard.restore(ctx, a.snapshot) {
		out.Text, out.DataComplete = out.Text+keyboardRestoredNote, false
	}
	out.Data = result
	return out, nil
}
