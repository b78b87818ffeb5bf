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
	"github.com/gybob/aai-gateway/internal/gui/operate"
)

// A held is what an element holds, in the words by which ax_set_value makes it hold that.
type fieldValue struct {
	id    desktop.ID
	value string
	known bool // false also for a value that may not be known, such as a password

	formatted bool // it may have links and formatting, which a text cannot restore
}

// maxHeld is how many bytes of a text are kept so that it can be put back: as many as
// ax_set_value takes.
const maxHeld = 100_000

// readFieldValue reads what the element holds. Of what cannot be set again just so, such as a cell,
// which may have a formula, nothing is known.
func (v *callView) readFieldValue(ctx context.Context, i int) (h fieldValue) {
	if i < 0 {
		return h
	}
	e := &v.Snapshot.Elements[i]
	if h.id = e.ID; e.States.HasAny(desktop.Protected|desktop.ReadOnly) || e.Role == desktop.Cell {
		return h
	}
	parts := v.DateTimeParts(i)
	switch {
	case len(parts) > 0:
		h.value, h.known = v.dateTimeValue(ctx, parts)
	case e.Role == desktop.Radio:
	case len(v.Radios(i)) > 0:
		h.value, h.known = v.sole(v.Radios(i), desktop.Checked)
	case isList(e) && e.Role != desktop.Combobox:
		h.value, h.known = v.sole(v.options(i), desktop.Selected)
	default:
		h.formatted = v.App.IsBrowser && e.Role == desktop.Textbox && e.End > i+1
		now, err := v.Backend.Tree.Read(ctx, v.App, e.ID)
		if err != nil || now.States.HasAny(desktop.Protected) || len(now.Value) > maxHeld {
			return h
		}
		h.value, h.known = fieldValueFrom(e, &now)
	}
	return h
}

// fieldValueFrom is what an element of which nothing else has to be known holds now.
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

// isList reports whether an option of it is chosen by its name.
func isList(e *desktop.Element) bool {
	return e.Role == desktop.Combobox && !e.States.Has(desktop.Editable) || e.Role == desktop.Listbox || e.Role == desktop.List || e.Role == desktop.Tablist
}

// options are those of a list.
func (v *callView) options(list int) (found []int) {
	for i := list + 1; i < v.Snapshot.Elements[list].End; i++ {
		if v.Snapshot.Elements[i].Role.IsSetMember() {
			found = append(found, i)
		}
	}
	return found
}

// sole is the name of the only one of them that has the state, where no other is called so.
func (v *callView) sole(all []int, state desktop.State) (name string, known bool) {
	chosen := slices.DeleteFunc(slices.Clone(all), func(i int) bool { return !v.Snapshot.Elements[i].States.Has(state) })
	if len(chosen) != 1 {
		return "", false
	}
	name = v.Snapshot.Elements[chosen[0]].Name
	same := slices.DeleteFunc(slices.Clone(all), func(i int) bool { return !fieldtext.SameChoice(v.Snapshot.Elements[i].Name, name) })
	return name, name != "" && len(same) == 1
}

// choiceOwner is what holds what a click on the element changes: it itself, where it can be
// ticked, or the group or list that it is a choice of; -1 where a click is no choice.
func (v *callView) choiceOwner(i int) int {
	e := &v.Snapshot.Elements[i]
	such := func(p int) bool { return isList(&v.Snapshot.Elements[p]) }
	switch {
	case v.InClosedMenu(i):
		return -1
	case e.Role == desktop.Radio:
		such = func(p int) bool { return len(v.Radios(p)) > 0 }
	case e.Role.IsSetMember():
	case e.States.Has(desktop.Checkable) || e.Role == desktop.Checkbox || e.Role == desktop.Switch:
		return i
	default:
		return -1
	}
	for p := e.Parent; p >= 0; p = v.Snapshot.Elements[p].Parent {
		if such(p) {
			return p
		}
	}
	return -1
}

// checkUnchanged asks the call whether what is there may be changed.
func (v *callView) checkUnchanged(now fieldValue) error {
	if v.Call.CheckUnchanged == nil {
		return nil
	}
	if !now.known {
		return guierr.Failed(aai.NotDelivered, "what it holds now cannot be read")
	}
	return v.Call.CheckUnchanged(now.value)
}

// withUndo adds to the result of what was done how the element holds again what it held.
func (v *callView) withUndo(ctx context.Context, was fieldValue, out *aai.Result, err error) (*aai.Result, error) {
	if err != nil {
		return nil, v.restoreAfterFailure(ctx, was, err)
	}
	if out == nil {
		return nil, nil
	}
	if did, ok := out.Data.(operate.ActionResult); ok && !did.Delivered {
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
func (v *callView) undoFor(was fieldValue, which string, now fieldValue) *aai.Undo {
	effect := " holds again what it held"
	if was.formatted {
		effect = " holds again its former text, without links and formatting"
	}
	return &aai.Undo{
		Description:   desktop.Describe(&v.Snapshot.Elements[v.Snapshot.Index(was.id)]) + effect,
		Step:          v.step(setValueName, map[string]any{"query": which, "value": was.value}),
		ExpectedState: now.value,
	}
}

// restoreAfterFailure sets the former value of an element again after an act that failed and may have
// changed it. The error says how that ended, and has an Undo for another try.
func (v *callView) restoreAfterFailure(ctx context.Context, was fieldValue, failed error) error {
	e := aai.AsError(failed)
	reached := e.Delivery == aai.Delivered || e.Delivery == aai.DeliveryUnknown
	if !reached || !was.known || e.Undo != nil || v.Refresh(ctx) != nil {
		return failed
	}
	i := v.Snapshot.Index(was.id)
	now := v.readFieldValue(ctx, i)
	if !now.known {
		return failed
	}
	said, how := *e, "; it holds what it held"
	if now.value != was.value {
		now, how = v.restoreValue(ctx, i, was)
	}
	if said.Message += how; v.Snapshot.Index(was.id) >= 0 && now.known {
		if which := query.For(v.Snapshot, v.Snapshot.Index(was.id)); which != "" {
			said.Undo = v.undoFor(was, which, now)
		}
	}
	return &said
}

// restoreValue sets the former value of the element, and returns the value that it holds then
// and how it went, for an error's message.
func (v *callView) restoreValue(ctx context.Context, i int, was fieldValue) (now fieldValue, how string) {
	together := v.Batched
	v.Batched = true // the act on this element was announced
	_, err := v.setAs(ctx, i, was.value)
	v.Batched = together
	if e := v.Refresh(ctx); err == nil {
		err = e
	}
	now = v.readFieldValue(ctx, v.Snapshot.Index(was.id))
	switch {
	case now.known && now.value == was.value:
		return now, "; it holds again what it held"
	case err != nil:
		return now, "; what it held could not be set again: " + aai.AsError(err).Message
	}
	return now, "; what it held was set again, and it holds another value"
}

// changed is a query for an element that holds another thing than it held, and what: ok is
// false where that is not known of both, or is the same.
func (v *callView) changed(ctx context.Context, was fieldValue) (which string, now fieldValue, ok bool) {
	if !was.known {
		return "", now, false
	}
	i := v.Snapshot.Index(was.id)
	now = v.readFieldValue(ctx, i)
	if !now.known || now.value == was.value {
		return "", now, false
	}
	which = query.For(v.Snapshot, i)
	return which, now, which != ""
}

// step is a call of a tool about the program, which is named by its process: names and
// references end with a conversation.
func (v *callView) step(tool string, args map[string]any) aai.Step {
	args["app"] = strconv.Itoa(v.App.PID)
	return aai.Step{App: aai.DesktopApp, Tool: tool, Args: args}
}
