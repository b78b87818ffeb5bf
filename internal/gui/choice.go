package gui

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
)

// setChecked sets the state of a check box or another button with a state. The elements in also name it.
func (v *view) setChecked(ctx context.Context, i int, text string, also ...int) (*aai.Result, error) {
	want, err := strconv.ParseBool(strings.ToLower(text))
	if err != nil {
		return nil, aai.Errorf(aai.InvalidParams, "value: expected true or false for %s", desktop.Describe(&v.snapshot.Elements[i]))
	}
	e := &v.snapshot.Elements[i]
	if e.States.HasAny(desktop.Checked|desktop.Pressed) == want && !e.States.Has(desktop.Mixed) {
		return v.alreadySetResult(i), nil
	}
	if e.Role == desktop.Radio && !want {
		return nil, aai.Errorf(aai.InvalidParams, "value: expected true for %s; choose another one of its group instead", v.name(i))
	}
	id := e.ID
	a := action{view: v, index: i, also: also, doneText: "Set", techniques: append(v.pressTechniques(i), v.pressAsLastResort(i))}
	a.techniques = append(a.techniques, v.byInput(i, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		at, err := v.clickPoint(i, w)
		if err != nil {
			return err
		}
		return input.Click(ctx, seat, w.ID, at, desktop.LeftButton, 1)
	}))
	a.techniques = append(a.techniques, v.bySpace(i)...)
	a.verify = func(ctx context.Context) (string, bool) {
		now, err := v.backend.Tree.Read(ctx, v.app, id)
		if err != nil {
			return "", false
		}
		if now.States.HasAny(desktop.Checked|desktop.Pressed) == want {
			return "", true
		}
		return fmt.Sprintf("it is not %v", want), false
	}
	return a.execute(ctx)
}

// choose selects the option with the name in a list or combo box.
func (v *view) choose(ctx context.Context, i int, name string) (*aai.Result, error) {
	e := &v.snapshot.Elements[i]
	same, closed := v.optionsNamed(i, name), e.Role == desktop.Combobox
	if closed && fieldtext.SameChoice(e.Value, name) && len(same) < 2 {
		return v.alreadySetResult(i), nil // selecting it again unselects it in a web page
	}
	switch len(same) {
	case 0:
	case 1:
		if !closed && v.isOnlySelected(i, same[0]) {
			return v.alreadySetResult(same[0]), nil
		}
		return v.selectOption(ctx, i, same[0])
	default:
		e := aai.Errorf(aai.AmbiguousTarget, "value: %d options of %s are called %s", len(same), v.name(i), guierr.QuoteQuery(name))
		e.Delivery, e.Hint = aai.NotDelivered, "Click the one you mean by its ref."
		setCandidates(e, v.candidates(same), len(same))
		if closed {
			e.Hint = openListHint
		}
		return nil, e
	}
	var names []string
	for c := i + 1; c < e.End; c++ {
		if option := &v.snapshot.Elements[c]; option.Role.IsSetMember() {
			names = append(names, aai.CleanLabel(option.Name, 60))
		}
	}
	if len(names) == 0 {
		e := aai.Errorf(aai.AutomationNotSupported, "%s does not list its options while it is closed", v.name(i))
		e.Delivery, e.Hint = aai.NotDelivered, openListHint
		if v.app.IsBrowser {
			e.Hint = "Open it by ax_click, then click the option."
		}
		return nil, e
	}
	out := aai.Errorf(aai.ElementNotFound, "value: %s has no option %s", desktop.Describe(e), guierr.QuoteQuery(name))
	out.Delivery = aai.NotDelivered
	setCandidates(out, names, len(names))
	return nil, out
}

// chooseRadio selects the radio button with the name in a group.
func (v *view) chooseRadio(ctx context.Context, group int, name string) (*aai.Result, error) {
	var names []string
	for _, i := range v.radios(group) {
		e := &v.snapshot.Elements[i]
		if fieldtext.SameChoice(e.Name, name) {
			if err := v.obstacle(ctx, i); err != nil {
				return nil, err
			}
			return v.setChecked(ctx, i, "true")
		}
		names = append(names, aai.CleanLabel(e.Name, 60))
	}
	e := aai.Errorf(aai.ElementNotFound, "value: %s has no choice %s", desktop.Describe(&v.snapshot.Elements[group]), guierr.QuoteQuery(name))
	e.Delivery = aai.NotDelivered
	setCandidates(e, names, len(names))
	return nil, e
}

// openListHint explains the remedy if a closed list does not react.
const openListHint = `Open it by ax_click with mode "focus", then click the option in the same way.`

func (v *view) selectOption(ctx context.Context, set, option int) (*aai.Result, error) {
	setID, optionID, name := v.snapshot.Elements[set].ID, v.snapshot.Elements[option].ID, v.snapshot.Elements[option].Name
	a := action{view: v, index: option, doneText: "Selected", techniques: []technique{
		v.byAccessibility(option, bySelection, desktop.Act{Verb: desktop.SelectItem}),
	}}
	if !v.app.FocusOnlyWhenActive || v.snapshot.Elements[option].States.Has(desktop.Showing) {
		a.techniques = append(a.techniques, v.byAccessibility(option, "its accessibility action", desktop.Act{Verb: desktop.Press}))
	}
	combo, c := v.snapshot.Elements[set].Role == desktop.Combobox, v.newComboChoice(set, option) // Qt selects in its list without effect
	if combo {
		// A page may select and show it later, and a further technique fails on a closed list.
		for i := range a.techniques {
			if !v.app.IsBrowser || v.snapshot.Elements[option].States.Has(desktop.Showing) {
				a.techniques[i] = c.withVerification(a.techniques[i])
			}
		}
		a.techniques = append(a.techniques, c.byArrowKeys(set))
	}
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
	out, err := a.execute(ctx)
	if e := aai.AsError(err); e != nil && combo && (e.Code == aai.AutomationFailed || e.Code == aai.AutomationNotSupported) && e.Hint == "" {
		said := *e
		said.Hint = openListHint
		return nil, &said
	}
	if err == nil {
		out.Text += c.passedText()
	}
	return out, err
}

// selectMore adds an element of a list to the selection, or with all the range between it and the
// nearest selected one.
func (v *view) selectMore(ctx context.Context, i int, all bool) (*aai.Result, error) {
	had := v.otherSelected(i)
	want := []int{i}
	if all {
		var err error
		if want, err = v.selectionRange(i, had); err != nil {
			return nil, err
		}
	}
	var ids []desktop.ID
	for _, one := range append(had, want...) {
		ids = append(ids, v.snapshot.Elements[one].ID)
	}
	a := action{view: v, index: i, also: want, doneText: "Also selected"}
	a.techniques = []technique{{name: bySelection, viaAccessibility: true, do: func(ctx context.Context) error {
		for n, one := range want {
			if err := v.byAccessibility(one, "", desktop.Act{Verb: desktop.SelectItem, AddToSelection: true}).do(ctx); err != nil {
				e := *aai.AsError(err)
				if n > 0 {
					e.Delivery = aai.Delivered
				}
				e.Hint = `Or press the arrow keys with shift, by ax_key_press with query.`
				return &e
			}
		}
		return nil
	}}}
	a.verify = func(ctx context.Context) (string, bool) {
		for _, id := range ids {
			now, err := v.backend.Tree.Read(ctx, v.app, id)
			if err != nil {
				return "", false
			}
			if !now.States.Has(desktop.Selected) {
				return fmt.Sprintf("%s is not selected: its list may allow one selection only", desktop.Describe(&now)), false
			}
		}
		return "", true
	}
	return a.execute(ctx)
}

// option returns the index of the option called name in element i: a group of radio buttons, a list or a combo box.
// It returns -1 if there is none, or if text can be typed into i.
func (v *view) option(i int, name string) int {
	if i < 0 {
		return -1
	}
	for _, r := range v.radios(i) {
		if fieldtext.SameChoice(v.snapshot.Elements[r].Name, name) {
			return r
		}
	}
	if v.snapshot.Elements[i].States.Has(desktop.Editable) {
		return -1
	}
	switch v.snapshot.Elements[i].Role {
	case desktop.Combobox, desktop.Listbox, desktop.List, desktop.Tablist:
		if same := v.optionsNamed(i, name); len(same) > 0 {
			return same[0]
		}
	}
	return -1
}

// optionsNamed returns the indexes of the options called name in a list, regardless of case. Of several, it prefers those
// spelled exactly so.
func (v *view) optionsNamed(list int, name string) (same []int) {
	spelled := func(c int) bool { return strings.TrimSpace(v.snapshot.Elements[c].Name) == strings.TrimSpace(name) }
	for c := list + 1; c < v.snapshot.Elements[list].End; c++ {
		if o := &v.snapshot.Elements[c]; o.Role.IsSetMember() && fieldtext.SameChoice(o.Name, name) {
			same = append(same, c)
		}
	}
	if len(same) > 1 && slices.ContainsFunc(same, spelled) {
		same = slices.DeleteFunc(same, func(c int) bool { return !spelled(c) })
	}
	return same
}

// radios returns the indexes of the radio buttons in a group; nil if the element is no group.
func (v *view) radios(group int) (found []int) {
	e := &v.snapshot.Elements[group]
	if e.Role != desktop.Group && e.Role != desktop.Radiogroup {
		return nil
	}
	for c := group + 1; c < e.End; c++ {
		if v.snapshot.Elements[c].Role == desktop.Radio {
			found = append(found, c)
		}
	}
	return found
}

// isOnlySelected reports whether the option is the only selected one in its list.
func (v *view) isOnlySelected(list, option int) bool {
	for i := list + 1; i < v.snapshot.Elements[list].End; i++ {
		if e := &v.snapshot.Elements[i]; e.Role.IsSetMember() && e.States.Has(desktop.Selected) != (i == option) {
			return false
		}
	}
	return true
}

// maxRange limits how many elements one call selects.
const maxRange = 500

// otherSelected returns the indexes of the other selected elements in the list of element i.
func (v *view) otherSelected(i int) (had []int) {
	for _, c := range v.snapshot.Children(v.snapshot.Elements[i].Parent) {
		if v.snapshot.Elements[c].States.Has(desktop.Selected) && c != i {
			had = append(had, c)
		}
	}
	return had
}

// selectionRange returns the elements from i to the nearest of had, the selected ones, without that one. It fails if
// had is empty or the range exceeds maxRange.
func (v *view) selectionRange(i int, had []int) (want []int, err error) {
	from, near := -1, 0
	for _, h := range had {
		if away := max(h-i, i-h); from < 0 || away < near {
			from, near = h, away
		}
	}
	if from < 0 {
		e := guierr.Failed(aai.NotDelivered, "a range needs a selected element beside %s to begin at", v.name(i))
		aai.AsError(e).Hint = "Click the first element of the range first."
		return nil, e
	}
	first, last := min(i, from), max(i, from)
	for _, c := range v.snapshot.Children(v.snapshot.Elements[i].Parent) {
		if e := &v.snapshot.Elements[c]; c >= first && c <= last && c != from && e.Role == v.snapshot.Elements[i].Role {
			want = append(want, c)
		}
	}
	if len(want) > maxRange {
		e := aai.Errorf(aai.InvalidParams, "select: expected a range of at most %d, got %d", maxRange, len(want))
		e.Delivery = aai.NotDelivered
		return nil, e
	}
	return want, nil
}
