package programs

import (
	"context"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
)

// hasWindow reports whether the program shows a window. One of no class is none of its own:
// LibreOffice shows such a picture while it starts.
func (r *Registry) hasWindow(ctx context.Context, app desktop.App) bool {
	own, err := WindowsOf(ctx, r.OpenBackend(), app)
	return err == nil && slices.ContainsFunc(own, func(w desktop.WindowInfo) bool { return w.Class != "" })
}

// WindowsOf are the program's, as the window system knows them, the front one first.
func WindowsOf(ctx context.Context, backend desktop.Backend, app desktop.App) ([]desktop.WindowInfo, error) {
	if backend.Windows == nil {
		return nil, guierr.Unsupported("list of windows")
	}
	all, err := backend.Windows.Windows(ctx)
	if err != nil {
		return nil, err
	}
	var own []desktop.WindowInfo
	for _, w := range all {
		if w.PID == app.PID {
			own = append(own, w)
		}
	}
	return own, nil
}

// FrontWindow returns the one of a program's windows that has the keyboard, or else
// that lies before the others.
func FrontWindow(own []desktop.WindowInfo) desktop.WindowInfo {
	for _, w := range own {
		if w.Active {
			return w
		}
	}
	return own[0]
}

// BestWindow returns the one of the windows that a top-level element is, and whether
// anything speaks for it. The title says more than the place.
func BestWindow(own []desktop.WindowInfo, top *desktop.Element) (best desktop.WindowInfo, sure bool) {
	most := -1.0
	for _, w := range own {
		likeness := overlap(w.Frame, top.Frame)
		if strings.TrimSpace(w.Title) == strings.TrimSpace(top.Name) {
			likeness += 2
		}
		if likeness > most {
			best, most = w, likeness
		}
	}
	return best, most > 0 || len(own) == 1
}

// overlap is how much of both rectangles they have in common, from 0 to 1.
func overlap(a, b desktop.Rect) float64 {
	common := a.Intersect(b)
	if common.Empty() {
		return 0
	}
	area := float64(common.W * common.H)
	return area / (float64(a.W*a.H) + float64(b.W*b.H) - area)
}

// CheckScreen is the error where there is no screen of the person's, nor anything else that
// could be seen or operated; nil where there is, or nobody knows.
func (r *Registry) CheckScreen(ctx context.Context) error {
	b := r.OpenBackend()
	if b.Windows == nil {
		return nil
	}
	_, err := b.Windows.Windows(ctx)
	e := aai.AsError(err)
	if e == nil || e.Code != aai.AutomationNotSupported {
		return nil
	}
	if b.Tree != nil {
		if ready, err := b.Tree.Ready(ctx); err == nil && ready.Ready {
			return nil // as on Wayland
		}
	}
	return e
}
