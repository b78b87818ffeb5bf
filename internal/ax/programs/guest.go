package programs

import (
	"context"
	"slices"
	"time"

	"aai"
	"aai/internal/ax/watch"
	"aai/internal/desktop"
	"aai/internal/desktop/delta"
	"aai/internal/desktop/refs"
)

// A Guest is a window that came while another program was acted on.
type Guest struct {
	Program string `json:"program"`
	PID     int    `json:"pid"`
	Started bool   `json:"started,omitempty"` // the program that was acted on started its process, directly or not
	Asks    string `json:"asks,omitempty"`    // what people read and can do in it; "" where the caller may not see that
}

// guestPatience is how long a window that has just come may take to tell what is in it.
const guestPatience = time.Second

// Guest says of a window of another program what is certain: whose it is, whether the host
// started that process, and what is in it as far as the caller may see it. False where it is
// nobody's, or the gateway's.
func (r *Programs) Guest(ctx context.Context, call *aai.Call, host desktop.App, w desktop.WindowInfo) (Guest, bool) {
	apps, err := r.Apps(ctx)
	if err != nil || w.PID == r.Self {
		return Guest{}, false
	}
	g := Guest{PID: w.PID, Started: r.Starts(host, w.PID)}
	i := slices.IndexFunc(apps, func(a desktop.App) bool { return a.PID == w.PID })
	if i < 0 {
		return Guest{}, false
	}
	g.Program = aai.CleanLabel(apps[i].ID, 60) // what it calls itself may be what it shows
	target, err := r.asTarget(apps[i])
	if err == nil && aai.Sees(ctx, target) {
		g.Program, g.Asks = target.Name, r.asks(ctx, r.Sessions.Of(call).RefsOf(apps[i]), apps[i], w)
	}
	return g, true
}

// Starts reports whether the program started the process, directly or not.
func (r *Programs) Starts(host desktop.App, pid int) bool {
	programs := r.Open().Programs
	return programs != nil && programs.Descends(pid, host.PID)
}

// asks is what is in the window, as the delta tells what came; its title where its tree
// tells nothing of it in time.
func (r *Programs) asks(ctx context.Context, known *refs.Table, app desktop.App, w desktop.WindowInfo) string {
	ctx, cancel := context.WithTimeout(ctx, guestPatience)
	defer cancel()
	for {
		if text := r.inside(ctx, known, app, w); text != "" {
			return text
		}
		if aai.Pause(ctx, watch.LookAgain/4) != nil {
			return "+ window " + desktop.Quote(w.Title, 60) + "\n"
		}
	}
}

// inside is what the program's tree tells of the window; "" for nothing yet.
func (r *Programs) inside(ctx context.Context, known *refs.Table, app desktop.App, w desktop.WindowInfo) string {
	shot, err := r.Open().Tree.Snapshot(ctx, app)
	own, listed := Windows(ctx, r.Open(), app)
	if err != nil || listed != nil {
		return ""
	}
	for _, top := range shot.Children(-1) {
		if is, sure := Likest(own, &shot.Elements[top]); !sure || is.ID != w.ID || shot.Elements[top].End == top+1 {
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
