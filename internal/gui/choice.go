package gui

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
	"github.com/gybob/aai-gateway/internal/gui/snapview"
)

func (v *view) setChecked(ctx context.Context, i int, text string) (*aai.Result, error) {
	want, err := strconv.ParseBool(strings.ToLower(text))
	if err != nil {
		return nil, aai.Errorf(aai.InvalidParams, "value: expected true or false for %s", desktop.Describe(&v.Snapshot.Elements[i]))
	}
	e := &v.Snapshot.Elements[i]
	if e.States.HasAny(desktop.Checked|desktop.Pressed) == want && !e.States.Has(desktop.Mixed) {
		return v.alreadySetResult(i), nil
	}
	if e.Role == desktop.Radio && !want {
		return nil, aai.Errorf(aai.InvalidParams, "value: expected true for %s; choose another one of its group instead", v.Name(i))
	}
	id := e.ID
	a := action{view: v, index: i, doneText: "Set", techniques: append(v.pressTechniques(i), v.pressAsLastResort(i))}
	a.techniques = append(a.techniques, v.byInput(i, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		at, err := v.ClickPoint(i, w)
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
		if now.States.HasAny(desktop.Checked|desktop.Pressed) == want {
			return "", true
		}
		return fmt.Sprintf("it is not %v", want), false
	}
	return a.execute(ctx)
}

// choose selects the option with the name in a list or combo box.
func (v *view) choose(ctx context.Context, i int, name string) (*aai.Result, error) {
	e := &v.Snapshot.Elements[i]
	same, closed := v.Options(i, name), e.Role == desktop.Combobox
	if closed && fieldtext.SameChoice(e.Value, name) && len(same) < 2 {
		return v.alreadySetResult(i), nil // selecting it again unselects it in a web page
	}
	switch len(same) {
	case 0:
	case 1:
		if !closed && v.IsOnlySelected(i, same[0]) {
			return v.alreadySetResult(same[0]), nil
		}
		return v.selectOption(ctx, i, same[0])
	default:
		e := aai.Errorf(aai.AmbiguousTarget, "value: %d options of %s are called %s", len(same), v.Name(i), guierr.QuoteQuery(name))
		e.Delivery, e.Hint, e.Candidates = aai.NotDelivered, "Click the one you mean by its ref.", v.Candidates(same)
		if closed {
			e.Hint = openListHint
		}
		return nil, e
	}
	var names []string
	for c := i + 1; c < e.End; c++ {
		if option := &v.Snapshot.Elements[c]; option.Role.IsSetMember() {
			names = append(names, aai.CleanLabel(option.Name, 60))
		}
	}
	if len(names) == 0 {
		e := aai.Errorf(aai.AutomationNotSupported, "%s does not list its options while it is closed", v.Name(i))
		e.Delivery, e.Hint = aai.NotDelivered, openListHint
		if v.app.IsBrowser {
			e.Hint = "Open it by ax_click, then click the option."
		}
		return nil, e
	}
	out := aai.Errorf(aai.ElementNotFound, "value: %s has no option %s", desktop.Describe(e), guierr.QuoteQuery(name))
	out.Delivery = aai.NotDelivered
	out.Candidates = names[:min(len(names), snapview.MaxCandidates)]
	return nil, out
}

// chooseRadio selects the radio button with the name in a group.
func (v *view) chooseRadio(ctx context.Context, group int, name string) (*aai.Result, error) {
	var names []string
	for _, i := range v.Radios(group) {
		e := &v.Snapshot.Elements[i]
		if fieldtext.SameChoice(e.Name, name) {
			if err := v.obstacle(ctx, i); err != nil {
				return nil, err
			}
			return v.setChecked(ctx, i, "true")
		}
		names = append(names, aai.CleanLabel(e.Name, 60))
	}
	e := aai.Errorf(aai.ElementNotFound, "value: %s has no choice %s", desktop.Describe(&v.Snapshot.Elements[group]), guierr.QuoteQuery(name))
	e.Delivery, e.Candidates = aai.NotDelivered, names[:min(len(names), snapview.MaxCandidates)]
	return nil, e
}

// openListHint explains the remedy if a closed list does not react.
const openListHint = `Open it by ax_click with mode "focus", then click the option in the same way.`

func (v *view) selectOption(ctx context.Context, set, option int) (*aai.Result, error) {
	setID, optionID, name := v.Snapshot.Elements[set].ID, v.Snapshot.Elements[option].ID, v.Snapshot.Elements[option].Name
	a := action{view: v, index: option, doneText: "Selected", techniques: []technique{
		v.byAccessibility(option, "the selection of its list", desktop.Act{Verb: desktop.SelectItem}),
	}}
	if !v.app.FocusOnlyWhenActive || v.Snapshot.Elements[option].States.Has(desktop.Showing) {
		a.techniques = append(a.techniques, v.byAccessibility(option, "its accessibility action", desktop.Act{Verb: desktop.Press}))
	}
	combo, c := v.Snapshot.Elements[set].Role == desktop.Combobox, v.newComboChoice(set, option) // Qt selects in its list without effect
	if combo {
		// A page may select and show it later, and a further technique fails on a closed list.
		for i := range a.techniques {
			if !v.app.IsBrowser || v.Snapshot.Elements[option].States.Has(desktop.Showing) {
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
	had := v.OtherSelected(i)
	want := []int{i}
	if all {
		var err error
		if want, err = v.SelectionRange(i, had); err != nil {
			return nil, err
		}
	}
	var ids []desktop.ID
	for _, one := range append(had, want...) {
		ids = append(ids, v.Snapshot.Elements[one].ID)
	}
	a := action{view: v, index: i, also: want, doneText: "Also selected"}
	a.techniques = []technique{{name: "the selection of its list", viaAccessibility: true, do: func(ctx context.Context) error {
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

// setToolbarField sets the field of a tool bar box, and activates it as return would: the text
// alone has no effect.
func (v *view) setToolbarField(ctx context.Context, field int, value string) (*aai.Result, error) {
	id := v.Snapshot.Elements[field].ID
	before, err := v.read(ctx, id)
	if err != nil {
		return nil, err
	}
	if isSameMeasure(before.Value, value) {
		return v.alreadySetResult(field), nil
	}
	if measure.MatchString(before.Value) && !measure.MatchString(value) { // the box would take the minimum and still show the words
		return nil, aai.Errorf(aai.InvalidParams, "value: the box expects a measure, such as %q, got %q", aai.CleanLabel(before.Value, 20), aai.CleanLabel(value, 100))
	}
	keyboard := v.guardKeyboard(ctx)
	a := action{view: v, index: field, doneText: "Set", techniques: []technique{{
		name: "its editable text and its accessibility action", viaAccessibility: true,
		do: func(ctx context.Context) error {
			if v.backend.Actor == nil {
				return guierr.Unsupported("actions on elements")
			}
			if err := v.backend.Actor.Execute(ctx, v.app, id, desktop.Act{Verb: desktop.SetText, Text: value}); err != nil {
				return err
			}
			if err := v.backend.Actor.Execute(ctx, v.app, id, desktop.Act{Verb: desktop.Press, Action: "activate"}); err != nil {
				return guierr.Failed(aai.Delivered, "the text was set, but not accepted: %s", aai.AsError(err).Message)
			}
			keyboard.awaitGrab(ctx) // the focus moves on to the document
			return nil
		},
	}}}
	var bare time.Time // since when it shows the measure as set
	unread := false    // the accepted value is unknown
	a.verify = func(ctx context.Context) (string, bool) {
		now, err := v.backend.Tree.Read(ctx, v.app, id)
		switch {
		case err != nil:
			return "", false
		case !isSameMeasure(now.Value, value):
			return fmt.Sprintf("its value is now %q", aai.CleanLabel(now.Value, 100)), false
		case !measure.MatchString(value) || now.Value != value:
			return "", true
		case bare.IsZero():
			bare = time.Now()
		}
		if time.Since(bare) < rewritesWithin {
			return "it does not show the accepted value", false
		}
		unread = true
		return "", false
	}
	done, err := a.execute(ctx)
	if unread && err == nil {
		done.Warning = "the box shows the value as it was set, which it also does if it accepts another number, such as its maximum: look at the effect"
	}
	return done, err
}

// rewritesWithin limits the wait until a measure is shown with its unit, which proves the accepted
// value. LibreOffice does not always show it.
const rewritesWithin = 2 * effectCeiling

// measure matches a number, with or without a unit.
var measure = regexp.MustCompile(`^[+-]?[\d.,]+\s?(\pL{1,3}|%|")?$`)

// isSameMeasure reports whether a box with the text holds the value: the box adds the unit to a
// number, as in "12 pt".
func isSameMeasure(shows, value string) bool {
	shows, value = fieldtext.Normalize(shows), fieldtext.Normalize(value)
	number, unit, _ := strings.Cut(shows, " ")
	return shows == value || unit != "" && number == value && strings.Trim(value, "0123456789.,") == ""
}
