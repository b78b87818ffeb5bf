package gui

import (
	"cmp"
	"context"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/refs"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
	"github.com/gybob/aai-gateway/internal/gui/params"
)

// field is one field that a call fills.
type field struct {
	query, value string
	id           desktop.ID // of the query's match; "" if not found yet
	ref          string
	err          error // why it is not found
}

// fieldsOf returns the fields of a call; none for a call that fills none.
func fieldsOf(call *aai.Call) (fields []field) {
	for _, p := range params.FieldValues(call) {
		fields = append(fields, field{query: p.Query, value: p.Value})
	}
	return fields
}

// findFields finds all fields, in the same snapshot if they are present. Its wait for missing
// fields is no longer than for a single one.
func (v *view) findFields(ctx context.Context, fields []field) error {
	for p := v.newAdaptiveWait(findTimeout); ; {
		waits := false
		for n := range fields {
			f := &fields[n]
			v.findField(ctx, f, v.findWithOffscreen) // all in the same snapshot, or in one that only adds to it
			waits = waits || f.err != nil && aai.AsError(f.err).Code == aai.ElementNotFound && !refs.Is(f.query)
		}
		if !waits || !p.awaitChange(ctx) {
			return v.duplicateError(fields)
		}
		if err := v.refresh(ctx); err != nil {
			return err
		}
	}
}

// findField finds the match of the field's query with the given find function.
func (v *view) findField(ctx context.Context, f *field, find func(context.Context, string) (match, error)) {
	m, err := find(ctx, f.query)
	if f.id, f.err = "", err; err != nil {
		return
	}
	f.id = v.Snapshot.Elements[m.index].ID
	if !v.WithoutNewRefs {
		f.ref = v.Ref(m.index)
	}
}

// duplicateError returns an error if two fields are the same element.
func (v *view) duplicateError(fields []field) error {
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

// targets returns all elements that a call fills, and then presses.
func (v *view) targets(ctx context.Context) (first int, also []int, err error) {
	fields := fieldsOf(v.call)
	for n := range fields {
		v.findField(ctx, &fields[n], v.find)
		err = cmp.Or(err, fields[n].err)
	}
	all := v.touched(ctx, fields)
	if len(all) == 0 {
		return -1, nil, err
	}
	if submit := params.Submit(v.call); submit != "" {
		m, err := v.find(ctx, submit)
		if err != nil {
			return -1, nil, err
		}
		all = append(all, m.index)
	}
	return all[0], all[1:], nil
}

// touched returns the elements of the fields and the options to select. If the call submits by
// return, it adds the elements that return presses in the last field.
func (v *view) touched(ctx context.Context, fields []field) (all []int) {
	last := -1
	for _, f := range fields {
		i := v.Snapshot.Index(f.id)
		if i < 0 && f.ref != "" { // it may have been recreated
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
	if params.IsReturn(params.String(v.call, "submit")) && last >= 0 {
		all = append(all, v.pressedBy(ctx, false, last, true)...)
	}
	return all
}
