package ax

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"aai"
	"aai/internal/desktop"
)

func (v *view) setChecked(ctx context.Context, i int, text string) (*aai.Result, error) {
	want, err := strconv.ParseBool(strings.ToLower(text))
	if err != nil {
		return nil, aai.Errorf(aai.InvalidParams, "value: expected true or false for %s", desktop.Describe(&v.shot.Elements[i]))
	}
	e := &v.shot.Elements[i]
	if e.States.Any(desktop.Checked|desktop.Pressed) == want && !e.States.Has(desktop.Mixed) {
		return v.already(i), nil
	}
	id := e.ID
	a := deed{view: v, index: i, done: "Set", ways: append(v.waysToPress(i), v.pressRashly(i))}
	a.ways = append(a.ways, v.byInput(i, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		at, err := v.point(i, w)
		if err != nil {
			return err
		}
		return input.Click(ctx, seat, w.ID, at, desktop.LeftButton, 1)
	}))
	a.verify = func(ctx context.Context) (string, bool) {
		now, err := v.backend.Tree.Read(ctx, v.app, id)
		if err != nil {
			return "", false
		}
		if now.States.Any(desktop.Checked|desktop.Pressed) == want {
			return "", true
		}
		return fmt.Sprintf("it is not %v", want), false
	}
	return a.perform(ctx)
}

// choose selects the option of that name within a list or combo box.
func (v *view) choose(ctx context.Context, i int, name string) (*aai.Result, error) {
	e := &v.shot.Elements[i]
	if e.Role == desktop.Combobox && sameChoice(e.Value, name) {
		return v.already(i), nil // to select it once more unselects it in a web page
	}
	var names []string
	for c := i + 1; c < e.End; c++ {
		option := &v.shot.Elements[c]
		if !option.Role.InSet() {
			continue
		}
		names = append(names, aai.CleanLabel(option.Name, 60))
		if !sameChoice(option.Name, name) {
			continue
		}
		if e.Role != desktop.Combobox && v.soleChoice(i, c) {
			return v.already(c), nil
		}
		return v.selectOption(ctx, i, c)
	}
	if len(names) == 0 {
		e := aai.Errorf(aai.AutomationNotSupported, "%s does not tell its options while it is closed", v.name(i))
		e.Delivery, e.Hint = aai.NotDelivered, openListHint
		return nil, e
	}
	out := aai.Errorf(aai.ElementNotFound, "value: %s has no option %s", desktop.Describe(e), quoted(name))
	out.Delivery = aai.NotDelivered
	out.Candidates = names[:min(len(names), maxCandidates)]
	return nil, out
}

// radios are the buttons of a group of which one is chosen; none of what is no group.
func (v *view) radios(group int) (found []int) {
	e := &v.shot.Elements[group]
	if e.Role != desktop.Group && e.Role != desktop.Radiogroup {
		return nil
	}
	for c := group + 1; c < e.End; c++ {
		if v.shot.Elements[c].Role == desktop.Radio {
			found = append(found, c)
		}
	}
	return found
}

// chooseRadio chooses the button of that name in a group.
func (v *view) chooseRadio(ctx context.Context, group int, name string) (*aai.Result, error) {
	var names []string
	for _, i := range v.radios(group) {
		e := &v.shot.Elements[i]
		if sameChoice(e.Name, name) {
			if err := v.obstacle(ctx, i); err != nil {
				return nil, err
			}
			return v.setChecked(ctx, i, "true")
		}
		names = append(names, aai.CleanLabel(e.Name, 60))
	}
	e := aai.Errorf(aai.ElementNotFound, "value: %s has no choice %s", desktop.Describe(&v.shot.Elements[group]), quoted(name))
	e.Delivery, e.Candidates = aai.NotDelivered, names[:min(len(names), maxCandidates)]
	return nil, e
}

// sameChoice compares the name of an option with what a caller calls it.
func sameChoice(option, name string) bool {
	return strings.EqualFold(strings.TrimSpace(option), strings.TrimSpace(name))
}

// soleChoice reports whether the option is the one that is selected in its list.
func (v *view) soleChoice(list, option int) bool {
	for i := list + 1; i < v.shot.Elements[list].End; i++ {
		if e := &v.shot.Elements[i]; e.Role.InSet() && e.States.Has(desktop.Selected) != (i == option) {
			return false
		}
	}
	return true
}

// openListHint says what to do where a list does nothing while it is closed.
const openListHint = `Open it by ax_click with mode "focus", then click the option in the same way.`

func (v *view) selectOption(ctx context.Context, set, option int) (*aai.Result, error) {
	setID, optionID, name := v.shot.Elements[set].ID, v.shot.Elements[option].ID, v.shot.Elements[option].Name
	a := deed{view: v, index: option, done: "Selected", ways: []way{
		v.byAsking(option, "the selection of its list", desktop.Act{Verb: desktop.SelectItem}),
		v.byAsking(option, "its accessibility action", desktop.Act{Verb: desktop.Press}),
	}}
	combo := v.shot.Elements[set].Role == desktop.Combobox // Qt selects in its list and leaves it at that
	a.verify = func(ctx context.Context) (string, bool) {
		if now, err := v.backend.Tree.Read(ctx, v.app, optionID); err == nil && now.States.Has(desktop.Selected) && !combo {
			return "", true
		}
		now, err := v.backend.Tree.Read(ctx, v.app, setID)
		if err != nil {
			return "", false
		}
		if now.Value == name || now.Name == name && !combo {
			return "", true
		}
		return fmt.Sprintf("it was not selected; the list shows %q", aai.CleanLabel(now.Value, 60)), false
	}
	out, err := a.perform(ctx)
	if e := aai.AsError(err); e != nil && combo && e.Code == aai.AutomationFailed && e.Hint == "" {
		said := *e
		said.Hint = openListHint
		return nil, &said
	}
	return out, err
}
