package ax

import (
	"cmp"
	"context"
	"time"

	"aai"
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
	rows, _ := call.Args["fields"].([]any)
	for _, row := range rows {
		pair, _ := row.(map[string]any)
		var f field
		f.query, _ = pair["query"].(string)
		f.value, _ = pair["value"].(string)
		fields = append(fields, f)
	}
	return fields
}

// submitOf is what the call presses when all is filled, or "".
func submitOf(call *aai.Call) string {
	submit := textArg(call, "submit")
	if isReturn(submit) {
		return ""
	}
	return submit
}

// aimAll finds what all the fields mean, all in one look where they are there. It waits
// no longer for what is not there than for one of them.
func (v *view) aimAll(ctx context.Context, fields []field) error {
	for until := time.Now().Add(findPatience); ; {
		waits := false
		for n := range fields {
			f := &fields[n]
			v.aimAt(ctx, f) // all in the same look
			waits = waits || f.err != nil && aai.AsError(f.err).Code == aai.ElementNotFound && !refs.Is(f.query)
		}
		if !waits || time.Now().After(until) || !v.changed(ctx, until) {
			return v.twice(fields)
		}
		if err := v.refresh(ctx); err != nil {
			return err
		}
	}
}

// aimAt finds what the field's query means.
func (v *view) aimAt(ctx context.Context, f *field) {
	m, err := v.find(ctx, f.query)
	if f.id, f.err = "", err; err != nil {
		return
	}
	f.id = v.shot.Elements[m.index].ID
	if !v.silent {
		f.ref = v.ref(m.index)
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
			e := aai.Errorf(aai.InvalidParams, "fields: %s and %s are the same, %s", quoted(fields[first].query), quoted(f.query), v.name(v.shot.Index(f.id)))
			e.Delivery, e.Hint = aai.NotDelivered, "Give each field once, by its ref."
			return e
		}
		seen[f.id] = n
	}
	return nil
}

// targets are all that a call fills, and what it presses then.
func (v *view) targets(ctx context.Context) (first int, also []int, err error) {
	fields := fieldsOf(v.call)
	for n := range fields {
		v.aimAt(ctx, &fields[n])
		err = cmp.Or(err, fields[n].err)
	}
	all := v.touched(ctx, fields)
	if len(all) == 0 {
		return -1, nil, err
	}
	if submit := submitOf(v.call); submit != "" {
		m, err := v.find(ctx, submit)
		if err != nil {
			return -1, nil, err
		}
		all = append(all, m.index)
	}
	return all[0], all[1:], nil
}

// touched are the elements of the fields, the choices among their options, and what
// return presses in the last one, where the call presses that.
func (v *view) touched(ctx context.Context, fields []field) (all []int) {
	last := -1
	for _, f := range fields {
		i := v.shot.Index(f.id)
		if i < 0 && f.ref != "" { // it may have been made anew
			i, _ = v.refs.Resolve(v.shot, f.ref)
		}
		if f.id == "" || i < 0 {
			continue
		}
		last = i
		all = append(all, last)
		if option := v.option(last, f.value); option >= 0 {
			all = append(all, option)
		}
	}
	if isReturn(textArg(v.call, "submit")) && last >= 0 {
		all = append(all, v.pressedBy(ctx, false, last, true)...)
	}
	return all
}

// maxWas is how many bytes are told of what a field held before.
const maxWas = 200

// was is what an element holds before it is set to the value; nil where nobody may know.
func (v *view) was(i int, value string) *string {
	e := &v.shot.Elements[i]
	if e.States.Has(desktop.Protected) {
		return nil
	}
	text := held(e)
	for _, r := range v.radios(i) {
		if v.shot.Elements[r].States.Has(desktop.Checked) {
			text = v.shot.Elements[r].Name
		}
	}
	if b, is := blockAt(e, value); is {
		text = v.blockText(b, i)
	}
	text = aai.CleanText(text, maxWas)
	return &text
}
