package gui

import (
	"context"
	"fmt"
	"slices"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
)

// checkAllUnchanged calls CheckUnchanged with the values of all fields.
func (f *formFill) checkAllUnchanged(ctx context.Context) error {
	if f.call.CheckUnchanged == nil {
		return nil
	}
	now := make([]any, len(f.fields))
	for n := range f.fields {
		h := f.readFieldValue(ctx, f.Snapshot.Index(f.fields[n].id))
		if !h.known {
			return guierr.Failed(aai.NotDelivered, "the current value of %s cannot be read", guierr.QuoteQuery(f.fields[n].query))
		}
		now[n] = h.value
	}
	return f.call.CheckUnchanged(now)
}

// undoAll returns the Undo that restores all known old values, the last field first; nil if there
// are none.
func (f *formFill) undoAll(ctx context.Context) *aai.Undo {
	if f.refresh(ctx) != nil { // the last snapshot may lack unreported changes
		return nil
	}
	fields, left, stays := []any{}, []any{}, []string{}
	for n := len(f.rows) - 1; n >= 0; n-- {
		if !f.rows[n].sent {
			continue
		}
		which, now, ok := f.changed(ctx, f.rows[n].was)
		switch {
		case ok:
			fields, left = append(fields, map[string]any{"query": which, "value": f.rows[n].was.value}), append(left, now.value)
		case !now.known || now.value != f.rows[n].was.value:
			stays = append(stays, guierr.QuoteQuery(f.fields[n].query))
		}
	}
	if len(fields) == 0 {
		return nil
	}
	slices.Reverse(stays)
	u := &aai.Undo{Description: "the fields have their former values again", Step: f.step("ax_fill", map[string]any{"fields": fields}), ExpectedState: left, NotRestored: stays}
	if all := len(fields) + len(stays); len(stays) > 0 {
		u.Description = fmt.Sprintf("%d of %d fields have their former values again", len(fields), all)
	}
	return u
}
