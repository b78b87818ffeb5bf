package gui

import (
	"context"
	"math"
	"slices"
	"strconv"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/query"
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
)

// fieldValue is the value of an element, in the form that ax_set_value accepts.
type fieldValue struct {
	id    desktop.ID
	value string
	known bool // false also for a value that may not be known, such as a password

	formatted bool // it may have links and formatting, which a text cannot restore
}

// maxUndoText is the maximum of bytes of a text that an undo keeps: as many as ax_set_value accepts.
const maxUndoText = 100_000

// readFieldValue reads the value of the element. It is unknown for elements that cannot be set back
// exactly, such as a cell, which may have a formula.
func (v *view) readFieldValue(ctx context.Context, i int) (h fieldValue) {
	if i < 0 {
		return h
	}
	e := &v.snapshot.Elements[i]
	if h.id = e.ID; e.States.HasAny(desktop.Protected|desktop.ReadOnly) || e.Role == desktop.Cell {
		return h
	}
	parts := v.dateTimeParts(i)
	switch {
	case len(parts) > 0:
		h.value, h.known = v.dateTimeValue(ctx, parts)
	case e.Role == desktop.Radio:
	case len(v.radios(i)) > 0:
		h.value, h.known = v.sole(v.radios(i), desktop.Checked)
	case isList(e) && e.Role != desktop.Combobox:
		h.value, h.known = v.sole(v.options(i), desktop.Selected)
	default:
		h.formatted = v.app.IsBrowser && e.Role == desktop.Textbox && e.End > i+1
		now, err := v.backend.Tree.Read(ctx, v.app, e.ID)
		if err != nil || now.States.HasAny(desktop.Protected) || len(now.Value) > maxUndoText {
			return h
		}
		h.value, h.known = fieldValueFrom(e, &now)
	}
	return h
}

// fieldValueFrom returns the value of an element that needs no other elements.
func fieldValueFrom(e, now *desktop.Element) (value string, known bool) {
	switch {
	case e.States.Has(desktop.Checkable) || e.Role == desktop.Checkbox || e.Role == desktop.Switch:
		return strconv.FormatBool(now.States.HasAny(desktop.Checked | desktop.Pressed)), !now.States.Has(desktop.Mixed)
	case e.Role == desktop.Slider || e.Role == desktop.Spinbutton || e.Role == desktop.Scrollbar:
		return now.Value, isDateTimeText(now) || !math.IsNaN(fieldtext.ParseNumber(now.Value, math.NaN()))
	case isList(e):
		return now.Value, now.Value != ""
	}
	text := e.Role == desktop.Textbox || e.Role == desktop.Searchbox || e.Role == desktop.Combobox
	return now.Value, text && e.States.Has(desktop.Editable)
}

// isList reports whether ax_set_value selects an option of the element by name.
func isList(e *desktop.Element) bool {
	return e.Role == desktop.Combobox && !e.States.Has(desktop.Editable) || e.Role == desktop.Listbox || e.Role == desktop.List || e.Role == desktop.Tablist
}

// options returns the options of a list.
func (v *view) options(list int) (found []int) {
	for i := list + 1; i < v.snapshot.Elements[list].End; i++ {
		if v.snapshot.Elements[i].Role.IsSetMember() {
			found = append(found, i)
		}
	}
	return found
}

// sole returns the name of the only element with the state, if no other element has that name.
func (v *view) sole(all []int, state desktop.State) (name string, known bool) {
	chosen := slices.DeleteFunc(slices.Clone(all), func(i int) bool { return !v.snapshot.Elements[i].States.Has(state) })
	if len(chosen) != 1 {
		return "", false
	}
	name = v.snapshot.Elements[chosen[0]].Name
	same := slices.DeleteFunc(slices.Clone(all), func(i int) bool { return !fieldtext.SameChoice(v.snapshot.Elements[i].Name, name) })
	return name, name != "" && len(same) == 1
}

// choiceOwner returns the element that a click on i would change: i itself if it is checkable, or
// the group or list of the option i. It returns -1 if a click selects nothing.
func (v *view) choiceOwner(i int) int {
	e := &v.snapshot.Elements[i]
	such := func(p int) bool { return isList(&v.snapshot.Elements[p]) }
	switch {
	case v.inClosedMenu(i):
		return -1
	case e.Role == desktop.Radio:
		such = func(p int) bool { return len(v.radios(p)) > 0 }
	case e.Role.IsSetMember():
	case e.States.Has(desktop.Checkable) || e.Role == desktop.Checkbox || e.Role == desktop.Switch:
		return i
	default:
		return -1
	}
	for p := e.Parent; p >= 0; p = v.snapshot.Elements[p].Parent {
		if such(p) {
			return p
		}
	}
	return -1
}

// checkUnchanged calls CheckUnchanged with the current value.
func (v *view) checkUnchanged(now fieldValue) error {
	if v.call.CheckUnchanged == nil {
		return nil
	}
	if !now.known {
		return guierr.Failed(aai.NotDelivered, "its current value cannot be read")
	}
	return v.call.CheckUnchanged(now.value)
}

// withUndo adds the Undo that restores the old value to the result.
func (v *view) withUndo(ctx context.Context, was fieldValue, out *aai.Result, err error) (*aai.Result, error) {
	if err != nil {
		return nil, v.restoreAfterFailure(ctx, was, err)
	}
	if out == nil {
		return nil, nil
	}
	if did, ok := out.Data.(actionResult); ok && !did.Delivered {
		return out, nil
	}
	which, now, ok := v.changed(ctx, was)
	if !ok {
		return out, nil
	}
	out.Undo = v.undoFor(was, which, now)
	return out, nil
}

// undoFor returns the Undo that sets the former value of the element, which holds now.
func (v *view) undoFor(was fieldValue, which string, now fieldValue) *aai.Undo {
	effect := " has its former value again"
	if was.formatted {
		effect = " has its former text again, without links and formatting"
	}
	return &aai.Undo{
		Description:   desktop.Describe(&v.snapshot.Elements[v.snapshot.Index(was.id)]) + effect,
		Step:          v.step(setValueName, map[string]any{"query": which, "value": was.value}),
		ExpectedState: now.value,
	}
}

// restoreAfterFailure sets the former value of an element again after an action that failed and may
// have changed it. The error describes the outcome, and has an Undo for another try.
func (v *view) restoreAfterFailure(ctx context.Context, was fieldValue, failed error) error {
	e := aai.AsError(failed)
	reached := e.Delivery == aai.Delivered || e.Delivery == aai.DeliveryUnknown
	if !reached || !was.known || e.Undo != nil || v.refresh(ctx) != nil {
		return failed
	}
	i := v.snapshot.Index(was.id)
	now := v.readFieldValue(ctx, i)
	if !now.known {
		return failed
	}
	said, how := *e, "; it has its former value"
	if now.value != was.value {
		now, how = v.restoreValue(ctx, i, was)
	}
	if said.Message += how; v.snapshot.Index(was.id) >= 0 && now.known {
		if which := query.For(v.snapshot, v.snapshot.Index(was.id)); which != "" {
			said.Undo = v.undoFor(was, which, now)
		}
	}
	return &said
}

// restoreValue sets the former value of the element. It returns the resulting value and the
// outcome, for an error message.
func (v *view) restoreValue(ctx context.Context, i int, was fieldValue) (now fieldValue, how string) {
	together := v.batched
	v.batched = true // the target was announced before
	_, err := v.setAs(ctx, i, was.value)
	v.batched = together
	if e := v.refresh(ctx); err == nil {
		err = e
	}
	now = v.readFieldValue(ctx, v.snapshot.Index(was.id))
	switch {
	case now.known && now.value == was.value:
		return now, "; it has its former value again"
	case err != nil:
		return now, "; its former value could not be set again: " + aai.AsError(err).Message
	}
	return now, "; its former value was set again, but it has another value"
}

// changed returns a query for an element and its new value; ok is false if a value is unknown or
// both are the same.
func (v *view) changed(ctx context.Context, was fieldValue) (which string, now fieldValue, ok bool) {
	if !was.known {
		return "", now, false
	}
	i := v.snapshot.Index(was.id)
	now = v.readFieldValue(ctx, i)
	if !now.known || now.value == was.value {
		return "", now, false
	}
	which = query.For(v.snapshot, i)
	return which, now, which != ""
}

// step returns a tool call on the program, named by its PID: aliases and refs end with a
// conversation.
func (v *view) step(tool string, args map[string]any) aai.Step {
	args["app"] = strconv.Itoa(v.app.PID)
	return aai.Step{App: aai.DesktopApp, Tool: tool, Args: args}
}

// maxValueBefore is the maximum of bytes in a reply about a field's old value.
const maxValueBefore = 200

// valueBefore returns the present value of element i before its change to value, for a reply; nil for a password
// field.
func (v *view) valueBefore(i int, value string) *string {
	e := &v.snapshot.Elements[i]
	if e.States.Has(desktop.Protected) {
		return nil
	}
	text := v.valueOf(i)
	for _, r := range v.radios(i) {
		if v.snapshot.Elements[r].States.Has(desktop.Checked) {
			text = v.snapshot.Elements[r].Name
		}
	}
	if b, is := fieldtext.ParseBlock(e, value); is {
		text = v.blockText(b, i)
	}
	text = aai.CleanText(text, maxValueBefore)
	return &text
}
