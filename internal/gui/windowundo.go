package gui

import (
	"context"
	"slices"
	"strconv"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/params"
)

// windowState tells whether a window is minimized, and which window is active.
type windowState struct {
	known     bool
	minimized bool
	active    desktop.WindowInfo // zero: none with a known process
}

// asData returns the state as data for CheckUnchanged.
func (a windowState) asData() map[string]any {
	return map[string]any{"minimized": a.minimized, "active": aai.CleanLabel(a.active.Title, 60)}
}

// currentState returns the window's current state.
func (m *windowChange) currentState(ctx context.Context) (a windowState) {
	all, err := m.backend.Windows.Windows(ctx)
	if err != nil {
		return a
	}
	for _, w := range all {
		if w.ID == m.window.ID {
			a.known, a.minimized = true, w.Minimized
		}
		if w.Active && w.PID != 0 {
			a.active = w
		}
	}
	return a
}

// undo returns the Undo that restores the window's state; nil if there is none, as for the stacking
// order and closed windows.
func (m *windowChange) undo(ctx context.Context, was windowState) *aai.Undo {
	now := m.currentState(ctx)
	if !was.known || !now.known {
		return nil
	}
	u := &aai.Undo{Description: "the window " + strconv.Quote(aai.CleanLabel(m.window.Title, 60)) + " is "}
	switch {
	case m.action == params.ActivateAction && was.active.PID != 0 && was.active.ID != m.window.ID && now.active.ID == m.window.ID:
		w := was.active
		u.Description = "the window " + strconv.Quote(aai.CleanLabel(w.Title, 60)) + " has the keyboard again"
		u.Step = aai.Step{App: aai.DesktopApp, Tool: params.WindowTool, Args: map[string]any{"app": strconv.Itoa(w.PID), "action": params.ActivateAction, "window": w.Title}}
		u.ExpectedState = map[string]any{"active": now.asData()["active"]}
		u.ExpectedShape = u.ExpectedState
		return u
	case m.action == string(desktop.Minimize) && !was.minimized && now.minimized:
		u.Description += "on the screen again"
		u.Step = m.step(params.WindowTool, map[string]any{"action": string(desktop.Restore), "window": m.window.Title})
	case slices.Contains([]string{string(desktop.Restore), string(desktop.Raise), params.ActivateAction}, m.action) && was.minimized && !now.minimized:
		u.Description += "minimized again"
		u.Step = m.step(params.WindowTool, map[string]any{"action": string(desktop.Minimize), "window": m.window.Title})
	default:
		return nil
	}
	u.ExpectedState = map[string]any{"minimized": now.minimized}
	u.ExpectedShape = u.ExpectedState
	return u
}
