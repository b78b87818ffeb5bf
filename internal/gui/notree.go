package gui

import (
	"context"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/params"
	"github.com/gybob/aai-gateway/internal/gui/screenshot"
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

// treeless reports whether err means that the program has no tree and the call needs none.
func (v *view) treeless(err error) bool {
	e := aai.AsError(err)
	return e != nil && v.treeOptional && e.Code == aai.AutomationNotSupported && v.app.HiddenReason != ""
}

// unreadableError returns the error for an unreadable program; for one without a tree the hint
// names alternatives.
func (v *view) unreadableError(err error) error {
	e := aai.AsError(err)
	if v.app.HiddenReason == "" || e.Code != aai.AutomationNotSupported {
		return err
	}
	said := *e
	said.Hint = strings.TrimSpace(e.Hint + " " + noTreeHint)
	return &said
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

// watchWindow turns on screenshot comparison for the window that receives input.
func (v *view) watchWindow() {
	if v.backend.Screen != nil && v.backend.Windows != nil {
		v.screenWatcher = screenshot.NewWatcher(v.backend.Screen, v.backend.Windows)
	}
}

// watchCanvas calls watchWindow for a canvas, where pixels may be the only visible effect.
func (v *view) watchCanvas(i int) {
	if i >= 0 && v.snapshot.Elements[i].Role == desktop.Canvas {
		v.watchWindow()
	}
}

// visualChange describes the change of the screenshot; "" if there is none, or no screenshot.
func (a action) visualChange(ctx context.Context) string {
	if a.screenWatcher == nil {
		return ""
	}
	return a.screenWatcher.Changed(ctx, a.app)
}

// reportVisualChange describes a change of the screenshot for the reply, if the tree shows none.
func (a action) reportVisualChange(ctx context.Context, result *actionResult) string {
	if result.Verified || a.verify != nil {
		return ""
	}
	text := a.visualChange(ctx)
	if text == "" {
		return ""
	}
	result.Verified, result.Changes = true, append(result.Changes, text)
	return " What changed: " + text + "."
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
