package ax

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"aai"
	"aai/internal/ax/fault"
	"aai/internal/ax/operate"
	"aai/internal/ax/scene"
	"aai/internal/ax/values"
	"aai/internal/desktop"
)

func (v *view) setChecked(ctx context.Context, i int, text string) (*aai.Result, error) {
	want, err := strconv.ParseBool(strings.ToLower(text))
	if err != nil {
		return nil, aai.Errorf(aai.InvalidParams, "value: expected true or false for %s", desktop.Describe(&v.Shot.Elements[i]))
	}
	e := &v.Shot.Elements[i]
	if e.States.Any(desktop.Checked|desktop.Pressed) == want && !e.States.Has(desktop.Mixed) {
		return v.already(i), nil
	}
	if e.Role == desktop.Radio && !want {
		return nil, aai.Errorf(aai.InvalidParams, "value: expected true for %s; it is put out by another one of its group", v.Name(i))
	}
	id := e.ID
	a := operate.Deed{View: v.View, Index: i, Done: "Set", Ways: append(v.WaysToPress(i), v.PressRashly(i))}
	a.Ways = append(a.Ways, v.ByInput(i, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		at, err := v.Point(i, w)
		if err != nil {
			return err
		}
		return input.Click(ctx, seat, w.ID, at, desktop.LeftButton, 1)
	}))
	a.Verify = func(ctx context.Context) (string, bool) {
		now, err := v.Backend.Tree.Read(ctx, v.App, id)
		if err != nil {
			return "", false
		}
		if now.States.Any(desktop.Checked|desktop.Pressed) == want {
			return "", true
		}
		return fmt.Sprintf("it is not %v", want), false
	}
	return a.Perform(ctx)
}

// choose selects the option of that name within a list or combo box.
func (v *view) choose(ctx context.Context, i int, name string) (*aai.Result, error) {
	e := &v.Shot.Elements[i]
	same, closed := v.Options(i, name), e.Role == desktop.Combobox
	if closed && values.SameChoice(e.Value, name) && len(same) < 2 {
		return v.already(i), nil // to select it once more unselects it in a web page
	}
	switch len(same) {
	case 0:
	case 1:
		if !closed && v.SoleChoice(i, same[0]) {
			return v.already(same[0]), nil
		}
		return v.selectOption(ctx, i, same[0])
	default:
		e := aai.Errorf(aai.AmbiguousTarget, "value: %d options of %s are called %s", len(same), v.Name(i), fault.Quoted(name))
		e.Delivery, e.Hint, e.Candidates = aai.NotDelivered, "Click the one you mean by its ref.", v.Candidates(same)
		if closed {
			e.Hint = openListHint
		}
		return nil, e
	}
	var names []string
	for c := i + 1; c < e.End; c++ {
		if option := &v.Shot.Elements[c]; option.Role.InSet() {
			names = append(names, aai.CleanLabel(option.Name, 60))
		}
	}
	if len(names) == 0 {
		e := aai.Errorf(aai.AutomationNotSupported, "%s does not tell its options while it is closed", v.Name(i))
		e.Delivery, e.Hint = aai.NotDelivered, openListHint
		if v.App.Browser {
			e.Hint = "Open it by ax_click, then click the option."
		}
		return nil, e
	}
	out := aai.Errorf(aai.ElementNotFound, "value: %s has no option %s", desktop.Describe(e), fault.Quoted(name))
	out.Delivery = aai.NotDelivered
	out.Candidates = names[:min(len(names), scene.MaxCandidates)]
	return nil, out
}

// chooseRadio chooses the button of that name in a group.
func (v *view) chooseRadio(ctx context.Context, group int, name string) (*aai.Result, error) {
	var names []string
	for _, i := range v.Radios(group) {
		e := &v.Shot.Elements[i]
		if values.SameChoice(e.Name, name) {
			if err := v.Obstacle(ctx, i); err != nil {
				return nil, err
			}
			return v.setChecked(ctx, i, "true")
		}
		names = append(names, aai.CleanLabel(e.Name, 60))
	}
	e := aai.Errorf(aai.ElementNotFound, "value: %s has no choice %s", desktop.Describe(&v.Shot.Elements[group]), fault.Quoted(name))
	e.Delivery, e.Candidates = aai.NotDelivered, names[:min(len(names), scene.MaxCandidates)]
	return nil, e
}

// openListHint says what to do where a list does nothing while it is closed.
const openListHint = `Open it by ax_click with mode "focus", then click the option in the same way.`

func (v *view) selectOption(ctx context.Context, set, option int) (*aai.Result, error) {
	setID, optionID, name := v.Shot.Elements[set].ID, v.Shot.Elements[option].ID, v.Shot.Elements[option].Name
	a := operate.Deed{View: v.View, Index: option, Done: "Selected", Ways: []operate.Way{
		v.ByAsking(option, "the selection of its list", desktop.Act{Verb: desktop.SelectItem}),
	}}
	if !v.App.FocusInFront || v.Shot.Elements[option].States.Has(desktop.Showing) {
		a.Ways = append(a.Ways, v.ByAsking(option, "its accessibility action", desktop.Act{Verb: desktop.Press}))
	}
	combo, c := v.Shot.Elements[set].Role == desktop.Combobox, v.choosing(set, option) // Qt selects in its list and leaves it at that
	if combo {
		// A page may choose and not show it yet; what would be tried next is refused of a closed list.
		for i := range a.Ways {
			if !v.App.Browser || v.Shot.Elements[option].States.Has(desktop.Showing) {
				a.Ways[i] = c.taken(a.Ways[i])
			}
		}
		a.Ways = append(a.Ways, c.byKeys(set))
	}
	a.Verify = func(ctx context.Context) (string, bool) {
		if now, err := v.Backend.Tree.Read(ctx, v.App, optionID); err == nil && now.States.Has(desktop.Selected) && !combo {
			return "", true
		}
		now, err := v.Backend.Tree.Read(ctx, v.App, setID)
		if err != nil {
			return "", false
		}
		if now.Value == name || now.Name == name && !combo {
			return "", true
		}
		return fmt.Sprintf("it was not selected; the list shows %q", aai.CleanLabel(now.Value, 60)), false
	}
	out, err := a.Perform(ctx)
	if e := aai.AsError(err); e != nil && combo && (e.Code == aai.AutomationFailed || e.Code == aai.AutomationNotSupported) && e.Hint == "" {
		said := *e
		said.Hint = openListHint
		return nil, &said
	}
	if err == nil {
		out.Text += c.says()
	}
	return out, err
}
