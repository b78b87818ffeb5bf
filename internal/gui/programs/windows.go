package programs

import (
	"context"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
)

// hasWindow reports whether the program shows a window. It ignores windows without a class, such as
// LibreOffice's splash screen.
func (r *Registry) hasWindow(ctx context.Context, app desktop.App) bool {
	own, err := WindowsOf(ctx, r.OpenBackend(), app)
	return err == nil && slices.ContainsFunc(own, func(w desktop.WindowInfo) bool { return w.Class != "" })
}

// WindowsOf returns the program's windows as the window system knows them, front to back.
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

// FrontWindow returns the window of own that has the keyboard, or else the first. own must not be empty.
func FrontWindow(own []desktop.WindowInfo) desktop.WindowInfo {
	for _, w := range own {
		if w.Active {
			return w
		}
	}
	return own[0]
}

// BestWindow returns the window that best matches a top-level element, and whether any evidence
// supports it. The title counts more than the position.
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

// overlap returns the common share of both rectangles, from 0 to 1.
func overlap(a, b desktop.Rect) float64 {
	common := a.Intersect(b)
	if common.Empty() {
		return 0
	}
	area := float64(common.W * common.H)
	return area / (float64(a.W*a.H) + float64(b.W*b.H) - area)
}

// CheckScreen returns an error if the person has no screen and the desktop offers nothing to see or
// operate; nil otherwise, or if unknown.
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
