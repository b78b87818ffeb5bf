package operate

import (
	"context"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/screenshot"
)

// treeless reports whether err means that the program has no tree and the call needs none.
func (v *View) treeless(err error) bool {
	e := aai.AsError(err)
	return e != nil && v.treeOptional && e.Code == aai.AutomationNotSupported && v.App.HiddenReason != ""
}

// unreadableError returns the error for an unreadable program; for one without a tree the hint
// names alternatives.
func (v *View) unreadableError(err error) error {
	e := aai.AsError(err)
	if v.App.HiddenReason == "" || e.Code != aai.AutomationNotSupported {
		return err
	}
	said := *e
	said.Hint = strings.TrimSpace(e.Hint + " " + noTreeHint)
	return &said
}

// noTreeHint names the tools for a program without a tree.
const noTreeHint = "By its picture: ax_screenshot, then ax_click_at, ax_key_press and ax_type without query."

// frontTitle returns the title of the program's front window; "" if unknown.
func (v *View) frontTitle(ctx context.Context) string {
	if v.NoTree {
		w, err := v.WindowOf(ctx, -1)
		if err != nil {
			return ""
		}
		return aai.CleanLabel(w.Title, MaxRecordedName)
	}
	if top := v.FrontTopLevel(ctx); top >= 0 {
		return aai.CleanLabel(v.Snapshot.Elements[top].Name, MaxRecordedName)
	}
	return ""
}

// WatchWindow turns on screenshot comparison for the window that receives input.
func (v *View) WatchWindow() {
	if v.Backend.Screen != nil && v.Backend.Windows != nil {
		v.screenWatcher = screenshot.NewWatcher(v.Backend.Screen, v.Backend.Windows)
	}
}

// WatchCanvas calls WatchWindow for a canvas, where pixels may be the only visible effect.
func (v *View) WatchCanvas(i int) {
	if i >= 0 && v.Snapshot.Elements[i].Role == desktop.Canvas {
		v.WatchWindow()
	}
}

// visualChange describes the change of the screenshot; "" if there is none, or no screenshot.
func (a Action) visualChange(ctx context.Context) string {
	if a.screenWatcher == nil {
		return ""
	}
	return a.screenWatcher.Changed(ctx, a.App)
}

// reportVisualChange describes a change of the screenshot for the reply, if the tree shows none.
func (a Action) reportVisualChange(ctx context.Context, result *ActionResult) string {
	if result.Verified || a.Verify != nil {
		return ""
	}
	text := a.visualChange(ctx)
	if text == "" {
		return ""
	}
	result.Verified, result.Changes = true, append(result.Changes, text)
	return " What changed: " + text + "."
}

// executeWithoutTree is Execute in a window without a tree.
func (a Action) executeWithoutTree(ctx context.Context) (*aai.Result, error) {
	if err := a.Announce(ctx, -1); err != nil {
		return nil, err
	}
	a.WatchWindow()
	keyboard := a.GuardKeyboard(ctx)
	used, err := a.tryTechniques(ctx)
	if err != nil {
		return nil, err
	}
	result := ActionResult{Delivered: true, Way: used.Name, Changes: []string{}}
	out := &aai.Result{Text: a.DoneText + " by " + used.Name + "." + a.reportVisualChange(ctx, &result), DataComplete: true}
	a.reportForeignWindows(ctx, &keyboard, &result, out, a.DoneText)
	switch {
	case result.Verified:
	case a.screenWatcher != nil && a.screenWatcher.IsAnimated():
		out.Warning = "delivered, but its picture did not change, except where it changes by itself"
	default:
		out.Warning = "delivered, but its picture did not change"
	}
	if keyboard.Restore(ctx, a.Snapshot) {
		out.Text, out.DataComplete = out.Text+KeyboardRestoredNote, false
	}
	out.Data = result
	return out, nil
}
