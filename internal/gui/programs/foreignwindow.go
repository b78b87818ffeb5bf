package programs

import (
	"context"
	"slices"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/delta"
	"github.com/gybob/aai-gateway/internal/desktop/refs"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/gui/watch"
)

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
