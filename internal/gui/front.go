package gui

import (
	"context"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
)

// Limits for a raised window to come to the front and for its content to settle.
const (
	frontTimeout = 2 * time.Second
	frontPause   = 60 * time.Millisecond
)

// bringToFront brings the element's window to the front, if the call may take the focus, and finds
// the element again. A window may look different in front, and the click must not hit another
// element at the old place.
func (v *view) bringToFront(ctx context.Context, m match) (match, error) {
	w, err := v.windowOf(ctx, m.index)
	if err != nil || w.Active {
		return m, err
	}
	ref := v.Ref(m.index)
	if err := v.raiseWindow(ctx, w); err != nil {
		return m, err
	}
	for until := time.Now().Add(frontTimeout); ; {
		before := v.Snapshot.Version
		if aai.Sleep(ctx, frontPause) != nil {
			return m, guierr.Unreadable(ctx.Err())
		}
		if err := v.refresh(ctx); err != nil {
			return m, err
		}
		if v.Snapshot.Version == before || time.Now().After(until) {
			break
		}
	}
	i, err := v.Refs.Resolve(v.Snapshot, ref)
	if err != nil {
		e := *aai.AsError(err)
		e.Hint = "The window changed when it came to the front. " + e.Hint
		return m, &e
	}
	return v.awaitReady(ctx, match{i, m.strategy}, ref)
}
