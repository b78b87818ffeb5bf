package ax

import (
	"cmp"
	"context"

	"aai"
	"aai/internal/ax/asked"
	"aai/internal/ax/fault"
	"aai/internal/ax/operate"
	"aai/internal/desktop"
	"aai/internal/desktop/refs"
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
	for _, p := range asked.Pairs(call) {
		fields = append(fields, field{query: p.Query, value: p.Value})
	}
	return fields
}

// aimAll finds what all the fields mean, all in one look where they are there. It waits
// no longer for what is not there than for one of them.
func (v *view) aimAll(ctx context.Context, fields []field) error {
	for p := v.Patience(operate.FindPatience); ; {
		waits := false
		for n := range fields {
			f := &fields[n]
			v.aimAt(ctx, f, v.Seek) // all in the same look, or in one that is the same and more
			waits = waits || f.err != nil && aai.AsError(f.err).Code == aai.ElementNotFound && !refs.Is(f.query)
		}
		if !waits || !p.Changed(ctx) {
			return v.twice(fields)
		}
		if err := v.Refresh(ctx); err != nil {
			return err
		}
	}
}

// aimAt finds what the field's query means, by Find or Seek.
func (v *view) aimAt(ctx context.Context, f *field, find func(context.Context, string) (operate.Match, error)) {
	m, err := find(ctx, f.query)
	if f.id, f.err = "", err; err != nil {
		return
	}
	f.id = v.Shot.Elements[m.Index].ID
	if !v.Silent {
		f.ref = v.Ref(m.Index)
	}
}

// twice is the error of fields that are the same.
func (v *view) twice(fields []field) error {
	seen := make(map[desktop.ID]int)
	for n, f := range fields {
		if f.id == "" {
			continue
		}
		if first, is := seen[f.id]; is {
			e := aai.Errorf(aai.InvalidParams, "fields: %s and %s are the same, %s", fault.Quoted(fields[first].query), fault.Quoted(f.query), v.Name(v.Shot.Index(f.id)))
			e.Delivery, e.Hint = aai.NotDelivered, "Give each field once, by its ref."
			return e
		}
		seen[f.id] = n
	}
	return nil
}

// targets are all that a call fills, and what it presses then.
func (v *view) targets(ctx context.Context) (first int, also []int, err error) {
	fields := fieldsOf(v.Call)
	for n := range fields {
		v.aimAt(ctx, &fields[n], v.Find)
		err = cmp.Or(err, fields[n].err)
	}
	all := v.touched(ctx, fields)
	if len(all) == 0 {
		return -1, nil, err
	}
	if submit := asked.Submit(v.Call); submit != "" {
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
func (v *view) touched(ctx context.Context, fields []field) (all []int) {
	last := -1
	for _, f := range fields {
		i := v.Shot.Index(f.id)
		if i < 0 && f.ref != "" { // it may have been made anew
			i, _ = v.Refs.Resolve(v.Shot, f.ref)
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
	if asked.IsReturn(asked.Text(v.Call, "submit")) && last >= 0 {
		all = append(all, v.PressedBy(ctx, false, last, true)...)
	}
	return all
}
