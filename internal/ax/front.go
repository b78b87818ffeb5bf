package ax

import (
	"context"
	"time"

	"aai"
)

// How long a window may take to look as it does in front.
const (
	frontPatience = 2 * time.Second
	frontPause    = 60 * time.Millisecond
)

// inFront brings the element's window to the front, where the call may take the
// focus, and finds the element again: a window may look otherwise when it is used,
// and what is at the old place must not be clicked.
func (v *view) inFront(ctx context.Context, m match) (match, error) {
	w, err := v.windowOf(ctx, m.index)
	if err != nil || w.Active {
		return m, err
	}
	ref := v.ref(m.index)
	if err := v.front(ctx, w); err != nil {
		return m, err
	}
	for until := time.Now().Add(frontPatience); ; {
		before := v.shot.Version
		select {
		case <-time.After(frontPause):
		case <-ctx.Done():
			return m, unread(ctx.Err())
		}
		if err := v.refresh(ctx); err != nil {
			return m, err
		}
		if v.shot.Version == before || time.Now().After(until) {
			break
		}
	}
	i, err := v.refs.Resolve(v.shot, ref)
	if err != nil {
		e := *aai.AsError(err)
		e.Hint = "The window changed when it came to the front. " + e.Hint
		return m, &e
	}
	return v.ready(ctx, match{i, m.strategy}, ref)
}
