package gui

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/refs"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
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
	f.id = v.snapshot.Elements[m.index].ID
	if !v.withoutNewRefs {
		f.ref = v.ref(m.index)
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
			e := aai.Errorf(aai.InvalidParams, "fields: %s and %s are the same, %s", guierr.QuoteQuery(fields[first].query), guierr.QuoteQuery(f.query), v.name(v.snapshot.Index(f.id)))
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
		i := v.snapshot.Index(f.id)
		if i < 0 && f.ref != "" { // it may have been recreated
			i, _ = v.refs.Resolve(v.snapshot, f.ref)
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
	if params.IsReturn(params.String(v.call, "submit")) && last >= 0 {
		all = append(all, v.pressedBy(ctx, false, last, true)...)
	}
	return all
}

// scrollToField scrolls the match of the query into view if needed, and notes that.
func (f *formFill) scrollToField(ctx context.Context, m match, query string) match {
	m, brought := f.scrollIntoView(ctx, m, query)
	if brought {
		f.scrolledNames = append(f.scrolledNames, f.name(m.index))
	}
	return m
}

// reportScrolled adds the scrolled elements to the text; they are not in the data.
func (f *formFill) reportScrolled(out *aai.Result) {
	if len(f.scrolledNames) > 0 {
		out.Text += "\nScrolled into view: " + strings.Join(f.scrolledNames, ", ") + "."
		out.DataComplete = false
	}
}

// asIfScrolled returns the earlier snapshot with the current visibility of each element, so that
// scrolling does not count as a change of the form.
func (f *formFill) asIfScrolled(before *desktop.Snapshot) *desktop.Snapshot {
	if len(f.scrolledNames) == 0 {
		return before
	}
	const view = desktop.Showing | desktop.Offscreen
	now := make(map[desktop.ID]desktop.State, len(f.snapshot.Elements))
	for i := range f.snapshot.Elements {
		now[f.snapshot.Elements[i].ID] = f.snapshot.Elements[i].States & view
	}
	shot := *before
	shot.Elements = append([]desktop.Element(nil), before.Elements...)
	for i := range shot.Elements {
		e := &shot.Elements[i]
		if is := now[e.ID]; is != 0 && e.States.HasAny(view) { // elements hidden for other reasons stay hidden
			e.States = e.States&^view | is
		}
	}
	return &shot
}

// checkAllUnchanged calls CheckUnchanged with the values of all fields.
func (f *formFill) checkAllUnchanged(ctx context.Context) error {
	if f.call.CheckUnchanged == nil {
		return nil
	}
	now := make([]any, len(f.fields))
	for n := range f.fields {
		h := f.readFieldValue(ctx, f.snapshot.Index(f.fields[n].id))
		if !h.known {
			return guierr.Failed(aai.NotDelivered, "the current value of %s cannot be read", guierr.QuoteQuery(f.fields[n].query))
		}
		now[n] = h.value
	}
	return f.call.CheckUnchanged(now)
}

// findRewritten sets Now of the filled fields that show another text than the value, such as one in upper case or with
// two decimals.
func (f *formFill) findRewritten() {
	for n, row := range f.rows {
		i, err := f.refs.Resolve(f.snapshot, row.Ref)
		if err != nil || !row.Done || !row.sent || row.unsure || row.gone {
			continue
		}
		if gateway.HasSecret(f.fields[n].value) {
			continue
		}
		if e := &f.snapshot.Elements[i]; takesText(e) && !fieldtext.IsSheetCell(e) && showsOther(e, f.fields[n].value) {
			f.rows[n].Now = fieldtext.DisplayValue(e)
		}
	}
}

// showsOther reports whether a field has a text other than the one that was entered.
func showsOther(e *desktop.Element, text string) bool {
	shown, number := fieldtext.Normalize(e.Value), fieldtext.ParseNumber(text, math.NaN())
	return !e.States.Has(desktop.Protected) && shown != "" && fieldtext.ReplaceNoBreakSpaces(shown) != fieldtext.ReplaceNoBreakSpaces(fieldtext.Normalize(text)) &&
		(math.IsNaN(number) || e.Role != desktop.Spinbutton || !fieldtext.SameNumber(shown, number))
}

// rewrittenText lists the texts that the program made of values.
func (f *formFill) rewrittenText() string {
	var texts []string
	for _, row := range f.rows {
		if row.Now != "" {
			texts = append(texts, row.Ref+" "+strconv.Quote(aai.CleanText(row.Now, 100)))
		}
	}
	if len(texts) == 0 {
		return ""
	}
	return "\nThe program changed the text in " + strings.Join(texts, ", ") + "."
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
		u.Description = fmt.Sprintf("%d of %s have their former values again", len(fields), aai.Count(all, "field"))
	}
	return u
}

// nothingFilledError returns the error for a form without any filled field.
func (f *formFill) nothingFilledError() error {
	first := f.rows[0].cause
	what := fmt.Sprintf("none of the %d fields was", len(f.rows))
	if len(f.rows) == 1 {
		what = "the field was not"
	}
	e := aai.Errorf(first.Code, "%s filled:%s", what, f.problems())
	e.Delivery = aai.NotDelivered
	for _, row := range f.rows {
		if row.cause != nil && row.cause.Code != first.Code {
			e.Code = aai.AutomationFailed
		}
		if row.sent {
			e.Delivery = aai.DeliveryUnknown
		}
		if row.cause != nil && e.Undo == nil {
			e.Undo = row.cause.Undo
		}
		if row.cause != nil && row.cause.Hint != "" && e.Hint == "" {
			e.Hint = row.cause.Hint
		}
	}
	return e
}

// problems lists the fields that were not filled, one line each.
func (f *formFill) problems() string {
	var b strings.Builder
	for n, row := range f.rows {
		if row.Done {
			continue
		}
		if row.cause == nil {
			fmt.Fprintf(&b, "\n- %s: not reached", guierr.QuoteQuery(f.fields[n].query))
			continue
		}
		fmt.Fprintf(&b, "\n- %s: %s", guierr.QuoteQuery(f.fields[n].query), row.Error)
		if len(row.cause.Candidates) > 0 {
			fmt.Fprintf(&b, " (there is %s)", strings.Join(row.cause.Candidates[:min(3, len(row.cause.Candidates))], ", "))
		}
	}
	return b.String()
}
