package gui

import (
	"cmp"
	"context"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/refs"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
	"github.com/gybob/aai-gateway/internal/gui/operate"
	"github.com/gybob/aai-gateway/internal/gui/params"
)

// A field is one of those that a call fills.
type field struct {
	query, value string
	id           desktop.ID // of what the query means; "" where that is not known yet
	ref          string
	err          error // why it is not known
}

// fieldsOf are the fields of a call; none of a call that fills none.
func fieldsOf(call *aai.Call) (fields []field) {
	for _, p := range params.FieldValues(call) {
		fields = append(fields, field{query: p.Query, value: p.Value})
	}
	return fields
}

// findFields finds what all the fields mean, all in one look where they are there. It waits
// no longer for what is not there than for one of them.
func (v *callView) findFields(ctx context.Context, fields []field) error {
	for p := v.NewAdaptiveWait(operate.FindTimeout); ; {
		waits := false
		for n := range fields {
			f := &fields[n]
			v.findField(ctx, f, v.FindWithOffscreen) // all in the same look, or in one that is the same and more
			waits = waits || f.err != nil && aai.AsError(f.err).Code == aai.ElementNotFound && !refs.Is(f.query)
		}
		if !waits || !p.AwaitChange(ctx) {
			return v.duplicateError(fields)
		}
		if err := v.Refresh(ctx); err != nil {
			return err
		}
	}
}

// findField finds what the field's query means, by Find or Seek.
func (v *callView) findField(ctx context.Context, f *field, find func(context.Context, string) (operate.Match, error)) {
	m, err := find(ctx, f.query)
	if f.id, f.err = "", err; err != nil {
		return
	}
	f.id = v.Snapshot.Elements[m.Index].ID
	if !v.WithoutNewRefs {
		f.ref = v.Ref(m.Index)
	}
}

// duplicateError is the error of fields that are the same.
func (v *callView) duplicateError(fields []field) error {
	seen := make(map[desktop.ID]int)
	for n, f := range fields {
		if f.id == "" {
			continue
		}
		if first, is := seen[f.id]; is {
			e := aai.Errorf(aai.InvalidParams, "fields: %s and %s are the same, %s", guierr.QuoteQuery(fields[first].query), guierr.QuoteQuery(f.query), v.Name(v.Snapshot.Index(f.id)))
			e.Delivery, e.Hint = aai.NotDelivered, "Give each field once, by its ref."
			return e
		}
		seen[f.id] = n
	}
	return nil
}

// targets are all that a call fills, and what it presses then.
func (v *callView) targets(ctx context.Context) (first int, also []int, err error) {
	fields := fieldsOf(v.Call)
	for n := range fields {
		v.findField(ctx, &fields[n], v.Find)
		err = cmp.Or(err, fields[n].err)
	}
	all := v.touched(ctx, fields)
	if len(all) == 0 {
		return -1, nil, err
	}
	if submit := params.Submit(v.Call); submit != "" {
		m, err := v.Find(ctx, submit)
		if err != nil {
			return -1, nil, err
		}
		all = append(all, m.Index)
	}
	return all[0], all[1:], nil
}

// touched are the elements of the fields, the choices among their options, and what
// return presses in the last one, where the call presses that.
func (v *callView) touched(ctx context.Context, fields []field) (all []int) {
	last := -1
	for _, f := range fields {
		i := v.Snapshot.Index(f.id)
		if i < 0 && f.ref != "" { // it may have been made anew
			i, _ = v.Refs.Resolve(v.Snapshot, f.ref)
		}
		if f.id == "" || i < 0 {
			continue
		}
		last = i
		all = append(all, last)
		if option := v.Option(last, f.value); option >= 0 {
			all = append(all, option)
		}
	}
	if params.IsReturn(params.String(v.Call, "submit")) && last >= 0 {
		all = append(all, v.PressedBy(ctx, false, last, true)...)
	}
	return all
}
