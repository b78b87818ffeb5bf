package ax

import (
	"context"
	"slices"
	"strconv"

	"aai"
	"aai/internal/ax/asked"
	"aai/internal/desktop"
)

// An arrangement is how a window is, and which one has the keyboard.
type arrangement struct {
	known     bool
	minimized bool
	active    desktop.WindowInfo // zero: none of which the process is known
}

// told is the arrangement for who asks whether it is still so.
func (a arrangement) told() map[string]any {
	return map[string]any{"minimized": a.minimized, "active": aai.CleanLabel(a.active.Title, 60)}
}

// arrangement is how the window is now.
func (m *management) arrangement(ctx context.Context) (a arrangement) {
	all, err := m.Backend.Windows.Windows(ctx)
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

// back is how the window is again as it was; nil where there is no way, as to what lay above
// others and to what is closed.
func (m *management) back(ctx context.Context, was arrangement) *aai.Undo {
	now := m.arrangement(ctx)
	if !was.known || !now.known {
		return nil
	}
	u := &aai.Undo{Says: "the window " + strconv.Quote(aai.CleanLabel(m.window.Title, 60)) + " is "}
	switch {
	case m.action == asked.Activate && was.active.PID != 0 && was.active.ID != m.window.ID && now.active.ID == m.window.ID:
		w := was.active
		u.Says = "the window " + strconv.Quote(aai.CleanLabel(w.Title, 60)) + " has the keyboard again"
		u.Step = aai.Step{App: aai.DesktopApp, Tool: asked.WindowTool, Args: map[string]any{"app": strconv.Itoa(w.PID), "action": asked.Activate, "window": w.Title}}
		u.Left = map[string]any{"active": now.told()["active"]}
		u.Form = u.Left
		return u
	case m.action == string(desktop.Minimize) && !was.minimized && now.minimized:
		u.Says += "on the screen again"
		u.Step = m.step(asked.WindowTool, map[string]any{"action": string(desktop.Restore), "window": m.window.Title})
	case slices.Contains([]string{string(desktop.Restore), string(desktop.Raise), asked.Activate}, m.action) && was.minimized && !now.minimized:
		u.Says += "minimized again"
		u.Step = m.step(asked.WindowTool, map[string]any{"action": string(desktop.Minimize), "window": m.window.Title})
	default:
		return nil
	}
	u.Left = map[string]any{"minimized": now.minimized}
	u.Form = u.Left
	return u
}
