package programs

import (
	"context"
	"image"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/delta"
	"github.com/gybob/aai-gateway/internal/desktop/refs"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
	"github.com/gybob/aai-gateway/internal/gui/screenshot"
	"github.com/gybob/aai-gateway/internal/gui/watch"
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

// ForeignWindow is a window of another program that opened during an action.
type ForeignWindow struct {
	Program string `json:"program"`
	PID     int    `json:"pid"`
	Started bool   `json:"started,omitempty"` // the program of the action started its process, directly or not
	Content string `json:"asks,omitempty"`    // its readable content and actions; "" if the caller may not see it
}

// foreignWindowTimeout limits how long a new window may take to show its content.
const foreignWindowTimeout = time.Second

// DescribeWindow describes a window of another program: the program, whether the host started its
// process, and its content if the caller may see it. It returns false for a window without a known
// program, or of the gateway.
func (r *Registry) DescribeWindow(ctx context.Context, call *aai.Call, host desktop.App, w desktop.WindowInfo) (ForeignWindow, bool) {
	apps, err := r.Apps(ctx)
	if err != nil || w.PID == r.SelfPID {
		return ForeignWindow{}, false
	}
	g := ForeignWindow{PID: w.PID, Started: r.HasStarted(host, w.PID)}
	i := slices.IndexFunc(apps, func(a desktop.App) bool { return a.PID == w.PID })
	if i < 0 {
		return ForeignWindow{}, false
	}
	g.Program = aai.CleanLabel(apps[i].ID, 60) // the program's own name may be text from its content
	target, err := r.newTarget(apps[i])
	if err == nil && gateway.CanSee(ctx, target) {
		g.Program, g.Content = target.Name, r.windowText(ctx, r.Sessions.For(call).RefsOf(apps[i]), apps[i], w)
	}
	return g, true
}

// HasStarted reports whether the program started the process, directly or not.
func (r *Registry) HasStarted(host desktop.App, pid int) bool {
	programs := r.OpenBackend().Programs
	return programs != nil && programs.IsDescendant(pid, host.PID)
}

// windowText returns the window's content, formatted as new in a delta, or its title if its tree
// has no content in time.
func (r *Registry) windowText(ctx context.Context, known *refs.Table, app desktop.App, w desktop.WindowInfo) string {
	ctx, cancel := context.WithTimeout(ctx, foreignWindowTimeout)
	defer cancel()
	for {
		if text := r.treeText(ctx, known, app, w); text != "" {
			return text
		}
		if aai.Sleep(ctx, watch.PollInterval/4) != nil {
			return "+ window " + desktop.Quote(w.Title, 60) + "\n"
		}
	}
}

// treeText returns the window's content from the program's tree; "" if there is none yet.
func (r *Registry) treeText(ctx context.Context, known *refs.Table, app desktop.App, w desktop.WindowInfo) string {
	shot, err := r.OpenBackend().Tree.Snapshot(ctx, app)
	own, listed := WindowsOf(ctx, r.OpenBackend(), app)
	if err != nil || listed != nil {
		return ""
	}
	for _, top := range shot.Children(-1) {
		if is, sure := BestWindow(own, &shot.Elements[top]); !sure || is.ID != w.ID || shot.Elements[top].End == top+1 {
			continue
		}
		alone := &desktop.Snapshot{App: app, Elements: slices.Clone(shot.Elements[top:shot.Elements[top].End])}
		for i := range alone.Elements {
			alone.Elements[i].End -= top
			alone.Elements[i].Parent = max(alone.Elements[i].Parent-top, -1)
		}
		return delta.Between(nil, alone, delta.Options{Ref: func(i int) string { return known.Ref(shot, top+i) }}).Text
	}
	return ""
}

// RedactedHint tells a caller how to see the parts that CaptureArea blackened.
const RedactedHint = "Name a program in app, and the person is asked; windows that protect the person are never shown."

// stillTries limits how often a screenshot is repeated until no window has moved meanwhile.
const stillTries = 5

// CaptureArea captures a part of the screen, with the windows of all programs that the caller may
// not see blackened, and returns their names. It reads the window layers before and after: if they
// differ, the capture may show a new window, and CaptureArea discards it.
func (r *Registry) CaptureArea(ctx context.Context, screen desktop.Screen, area desktop.Rect) (*image.RGBA, []string, error) {
	asked, _ := r.passwordPrompt(ctx)
	before, err := screen.Layers(ctx)
	if err != nil {
		return nil, nil, err
	}
	for range stillTries {
		picture, err := screen.Capture(ctx, area)
		if err != nil {
			return nil, nil, err
		}
		after, err := screen.Layers(ctx)
		if err != nil {
			return nil, nil, err
		}
		if reflect.DeepEqual(before, after) {
			asks, _ := r.passwordPrompt(ctx)
			hidden, err := r.blacken(ctx, picture, area, after, asked, asks)
			return picture, hidden, err
		}
		before = after
	}
	e := aai.Errorf(aai.AutomationFailed, "the windows on the screen change all the time, so a picture might show a window that you may not see")
	e.Hint = "Take a picture of one program, by app, or try again."
	e.Delivery = aai.NotDelivered
	return nil, nil, e
}

// blacken paints over the windows that the caller may not see, and returns their programs' names.
// That includes windows of unknown programs, and of the processes in asking, which request a
// password.
func (r *Registry) blacken(ctx context.Context, picture *image.RGBA, area desktop.Rect, layers []desktop.Layer, asking ...int) ([]string, error) {
	apps, err := r.Apps(ctx)
	if err != nil {
		return nil, err
	}
	sees, hidden := make(map[int]bool), []string{}
	screenshot.Blacken(picture, area, layers, func(l desktop.Layer) bool {
		name := "an unknown program"
		if i := slices.IndexFunc(apps, func(a desktop.App) bool { return a.PID == l.PID && l.PID != 0 }); i >= 0 {
			if _, asked := sees[l.PID]; !asked {
				target, err := r.newTarget(apps[i])
				sees[l.PID] = err == nil && !slices.Contains(asking, l.PID) && gateway.CanSee(ctx, target)
			}
			name = aai.CleanLabel(apps[i].ID, 60) // the program's own name may be text from its content
		}
		if !sees[l.PID] && !slices.Contains(hidden, name) {
			hidden = append(hidden, name)
		}
		return sees[l.PID]
	})
	return hidden, nil
}
