package ax

import (
	"context"
	"fmt"

	"aai"
	"aai/internal/ax/fault"
)

// stillAll asks the call whether what all the fields hold may be changed.
func (f *filling) stillAll(ctx context.Context) error {
	if f.Call.Still == nil {
		return nil
	}
	now := make([]any, len(f.fields))
	for n := range f.fields {
		h := f.holds(ctx, f.Shot.Index(f.fields[n].id))
		if !h.known {
			return fault.Failed(aai.NotDelivered, "what %s holds now cannot be read", fault.Quoted(f.fields[n].query))
		}
		now[n] = h.value
	}
	return f.Call.Still(now)
}

// takingAllBack is how all fields hold again what they held, the last one first, as far as
// that is known; nil where it is of none.
func (f *filling) takingAllBack(ctx context.Context) *aai.Undo {
	if f.Refresh(ctx) != nil { // what was seen last may lack what the program did not tell of
		return nil
	}
	fields, left, sent := []any{}, []any{}, 0
	for n := len(f.rows) - 1; n >= 0; n-- {
		if !f.rows[n].sent {
			continue
		}
		sent++
		if which, now, ok := f.changed(ctx, f.rows[n].was); ok {
			fields, left = append(fields, map[string]any{"query": which, "value": f.rows[n].was.value}), append(left, now)
		}
	}
	if len(fields) == 0 {
		return nil
	}
	u := &aai.Undo{Says: "the fields hold again what they held", Step: f.step("ax_fill", map[string]any{"fields": fields}), Left: left}
	if len(fields) < sent {
		u.Says = fmt.Sprintf("%d of %d fields hold again what they held", len(fields), sent)
	}
	return u
}
