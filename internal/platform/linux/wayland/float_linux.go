package wayland

import (
	"context"
	"fmt"
	"time"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// A floater is a manager of a compositor that tiles windows, and hides new ones behind a window on the full screen.
type floater interface {
	// float waits for the windows of a process, and shows them in front of all others, wholly on their monitor, with
	// the keyboard.
	float(ctx context.Context, pid int) error
}

// FloatWindows waits for the windows of a process, and shows them in front of all others. It does nothing if the
// compositor tiles no windows.
func (s *Session) FloatWindows(ctx context.Context, pid int) error {
	if !s.listsWindows(ctx) {
		return nil
	}
	m, err := s.wayland.manager(ctx)
	if err != nil {
		return err
	}
	if f, ok := m.(floater); ok {
		return failure("showing a window in front", f.float(ctx, pid))
	}
	return nil
}

// Times of a window that is taken out of the tiles.
const (
	// floatPoll is the time between two looks at it.
	floatPoll = 40 * time.Millisecond
	// floatSettled is the number of looks in a row after which it stays where it is. The program may still take the
	// size of its tile, since it draws at its own pace.
	floatSettled = 8
	// floatPatience is the limit from the first look at it.
	floatPatience = 3 * time.Second
)

// float implements floater.
func (s *sway) float(ctx context.Context, pid int) error {
	var since time.Time
	for settled := 0; settled < floatSettled; settled++ {
		root, err := s.tree(ctx)
		if err != nil {
			return err
		}
		views := root.views(pid, desktop.Rect{}, false)
		switch {
		case len(views) == 0:
			settled = -1
		case since.IsZero():
			since = time.Now()
		case time.Since(since) > floatPatience:
			return fmt.Errorf("the window of process %d does not stay in front", pid)
		}
		for _, v := range views {
			if v.isPlaced() {
				continue
			}
			settled = -1
			size := v.wanted()
			// The focus ends the full screen of another window.
			if err := s.command(ctx, desktop.WindowID(v.ID), fmt.Sprintf(
				"floating enable, resize set width %d px height %d px, move position center, focus", size.W, size.H)); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(floatPoll):
		}
	}
	return nil
}

// A swayView is a window of sway.
type swayView struct {
	*swayNode
	workspace desktop.Rect
	floats    bool
}

// views returns the windows of a process below a container.
func (n *swayNode) views(pid int, workspace desktop.Rect, floats bool) (found []swayView) {
	if n.PID == pid && len(n.Nodes) == 0 {
		return []swayView{{n, workspace, floats}}
	}
	if n.Kind == "workspace" {
		workspace = n.Rect.rect()
	}
	for i := range n.Floating {
		found = append(found, n.Floating[i].views(pid, workspace, true)...)
	}
	for i := range n.Nodes {
		found = append(found, n.Nodes[i].views(pid, workspace, floats)...)
	}
	return found
}

// outer returns the rectangle of the window with its title, which sway draws above it.
func (v swayView) outer() desktop.Rect {
	r := v.Rect.rect()
	r.Y, r.H = r.Y-v.Title.H, r.H+v.Title.H
	return r
}

// wanted returns the size that the program chose, with the decoration, or the workspace's where that is smaller.
func (v swayView) wanted() desktop.Rect {
	outer := v.outer()
	return desktop.Rect{
		W: min(v.Natural.W+outer.W-v.Window.W, v.workspace.W),
		H: min(v.Natural.H+outer.H-v.Window.H, v.workspace.H),
	}
}

// isPlaced reports whether the window lies over all others, wholly on its workspace, in its wanted size.
func (v swayView) isPlaced() bool {
	outer, wanted := v.outer(), v.wanted()
	return v.floats && v.Focused && v.Visible && outer.Intersect(v.workspace) == outer && outer.W == wanted.W && outer.H == wanted.H
}
