package ax

import (
	"context"
	"math"
	"slices"
	"strconv"

	"aai"
	"aai/internal/ax/fault"
	"aai/internal/ax/operate"
	"aai/internal/ax/values"
	"aai/internal/desktop"
	"aai/internal/desktop/query"
)

// A held is what an element holds, in the words by which ax_set_value makes it hold that.
type held struct {
	id    desktop.ID
	value string
	known bool // false also where nobody may know, as of a password
}

// maxHeld is how many bytes of a text are kept so that it can be put back: as many as
// ax_set_value takes.
const maxHeld = 100_000

// holds reads what the element holds. Of what cannot be set again just so, such as a cell,
// which may have a formula, nothing is known.
func (v *view) holds(ctx context.Context, i int) (h held) {
	if i < 0 {
		return h
	}
	e := &v.Shot.Elements[i]
	if h.id = e.ID; e.States.Any(desktop.Protected|desktop.ReadOnly) || e.Role == desktop.Cell {
		return h
	}
	parts := v.MomentParts(i)
	switch {
	case len(parts) > 0:
		h.value, h.known = v.moment(ctx, parts)
	case e.Role == desktop.Radio:
	case len(v.Radios(i)) > 0:
		h.value, h.known = v.sole(v.Radios(i), desktop.Checked)
	case isList(e) && e.Role != desktop.Combobox:
		h.value, h.known = v.sole(v.options(i), desktop.Selected)
	default:
		now, err := v.Backend.Tree.Read(ctx, v.App, e.ID)
		if err != nil || now.States.Any(desktop.Protected) || len(now.Value) > maxHeld {
			return h
		}
		h.value, h.known = heldBy(e, &now)
	}
	return h
}

// heldBy is what an element of which nothing else has to be known holds now.
func heldBy(e, now *desktop.Element) (value string, known bool) {
	switch {
	case e.States.Has(desktop.Checkable) || e.Role == desktop.Checkbox || e.Role == desktop.Switch:
		return strconv.FormatBool(now.States.Any(desktop.Checked | desktop.Pressed)), !now.States.Has(desktop.Mixed)
	case e.Role == desktop.Slider || e.Role == desktop.Spinbutton || e.Role == desktop.Scrollbar:
		return now.Value, written(now) || !math.IsNaN(values.NumberOr(now.Value, math.NaN()))
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
func (v *view) options(list int) (found []int) {
	for i := list + 1; i < v.Shot.Elements[list].End; i++ {
		if v.Shot.Elements[i].Role.InSet() {
			found = append(found, i)
		}
	}
	return found
}

// sole is the name of the only one of them that has the state, where no other is called so.
func (v *view) sole(all []int, state desktop.State) (name string, known bool) {
	chosen := slices.DeleteFunc(slices.Clone(all), func(i int) bool { return !v.Shot.Elements[i].States.Has(state) })
	if len(chosen) != 1 {
		return "", false
	}
	name = v.Shot.Elements[chosen[0]].Name
	same := slices.DeleteFunc(slices.Clone(all), func(i int) bool { return !values.SameChoice(v.Shot.Elements[i].Name, name) })
	return name, name != "" && len(same) == 1
}

// switched is what holds what a click on the element changes: it itself, where it can be
// ticked, or the group or list that it is a choice of; -1 where a click is no choice.
func (v *view) switched(i int) int {
	e := &v.Shot.Elements[i]
	such := func(p int) bool { return isList(&v.Shot.Elements[p]) }
	switch {
	case v.InClosedMenu(i):
		return -1
	case e.Role == desktop.Radio:
		such = func(p int) bool { return len(v.Radios(p)) > 0 }
	case e.Role.InSet():
	case e.States.Has(desktop.Checkable) || e.Role == desktop.Checkbox || e.Role == desktop.Switch:
		return i
	default:
		return -1
	}
	for p := e.Parent; p >= 0; p = v.Shot.Elements[p].Parent {
		if such(p) {
			return p
		}
	}
	return -1
}

// still asks the call whether what is there may be changed.
func (v *view) still(now held) error {
	if v.Call.Still == nil {
		return nil
	}
	if !now.known {
		return fault.Failed(aai.NotDelivered, "what it holds now cannot be read")
	}
	return v.Call.Still(now.value)
}

// takingBack adds to the result of what was done how the element holds again what it held.
func (v *view) takingBack(ctx context.Context, was held, out *aai.Result, err error) (*aai.Result, error) {
	if err != nil {
		return nil, v.restored(ctx, was, err)
	}
	if out == nil {
		return nil, nil
	}
	if did, ok := out.Data.(operate.DeedResult); ok && !did.Delivered {
		return out, nil
	}
	which, now, ok := v.changed(ctx, was)
	if !ok {
		return out, nil
	}
	out.Undo = v.setBack(was, which, now)
	return out, nil
}

// setBack returns the Undo that sets the former value of the element, which holds now.
func (v *view) setBack(was held, which string, now held) *aai.Undo {
	return &aai.Undo{
		Says: desktop.Describe(&v.Shot.Elements[v.Shot.Index(was.id)]) + " holds again what it held",
		Step: v.step(setValueName, map[string]any{"query": which, "value": was.value}),
		Left: now.value,
	}
}

// restored sets the former value of an element again after an act that failed and may have
// changed it. The error says how that ended, and has an Undo for another try.
func (v *view) restored(ctx context.Context, was held, failed error) error {
	e := aai.AsError(failed)
	reached := e.Delivery == aai.Delivered || e.Delivery == aai.DeliveryUnknown
	if !reached || !was.known || e.Undo != nil || v.Refresh(ctx) != nil {
		return failed
	}
	i := v.Shot.Index(was.id)
	now := v.holds(ctx, i)
	if !now.known {
		return failed
	}
	said, how := *e, "; it holds what it held"
	if now.value != was.value {
		now, how = v.setFormer(ctx, i, was)
	}
	if said.Message += how; v.Shot.Index(was.id) >= 0 && now.known {
		if which := query.For(v.Shot, v.Shot.Index(was.id)); which != "" {
			said.Undo = v.setBack(was, which, now)
		}
	}
	return &said
}

// setFormer sets the former value of the element, and returns the value that it holds then
// and how it went, for an error's message.
func (v *view) setFormer(ctx context.Context, i int, was held) (now held, how string) {
	together := v.Together
	v.Together = true // the act on this element was announced
	_, err := v.setAs(ctx, i, was.value)
	v.Together = together
	if e := v.Refresh(ctx); err == nil {
		err = e
	}
	now = v.holds(ctx, v.Shot.Index(was.id))
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
func (v *view) changed(ctx context.Context, was held) (which string, now held, ok bool) {
	if !was.known {
		return "", now, false
	}
	i := v.Shot.Index(was.id)
	now = v.holds(ctx, i)
	if !now.known || now.value == was.value {
		return "", now, false
	}
	which = query.For(v.Shot, i)
	return which, now, which != ""
}

// step is a call of a tool about the program, which is named by its process: names and
// references end with a conversation.
func (v *view) step(tool string, args map[string]any) aai.Step {
	args["app"] = strconv.Itoa(v.App.PID)
	return aai.Step{App: aai.DesktopApp, Tool: tool, Args: args}
}
