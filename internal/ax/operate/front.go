package operate

import (
	"context"
	"time"

	"aai"
	"aai/internal/ax/fault"
)

// How long a window may take to look as it does in front.
const (
	frontPatience = 2 * time.Second
	frontPause    = 60 * time.Millisecond
)

// InFront brings the element's window to the front, where the call may take the
// focus, and finds the element again: a window may look otherwise when it is used,
// and what is at the old place must not be clicked.
func (v *View) InFront(ctx context.Context, m Match) (Match, error) {
	w, err := v.WindowOf(ctx, m.Index)
	if err != nil || w.Active {
		return m, err
	}
	ref := v.Ref(m.Index)
	if err := v.front(ctx, w); err != nil {
		return m, err
	}
	for until := time.Now().Add(frontPatience); ; {
		before := v.Shot.Version
		if aai.Pause(ctx, frontPause) != nil {
			return m, fault.Unread(ctx.Err())
		}
		if err := v.Refresh(ctx); err != nil {
			return m, err
		}
		if v.Shot.Version == before || time.Now().After(until) {
			break
		}
	}
	i, err := v.Refs.Resolve(v.Shot, ref)
	if err != nil {
		e := *aai.AsError(err)
		e.Hint = "The window changed when it came to the front. " + e.Hint
		return m, &e
	}
	return v.Ready(ctx, Match{i, m.Strategy}, ref)
}
