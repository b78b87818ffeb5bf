package ax

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"aai"
	"aai/internal/desktop"
)

func (d *desk) setValueTool() *aai.Tool {
	return spec{
		name: "ax_set_value", title: "Set element value", types: true,
		returns:     deedReturns,
		description: "Set what an element holds: a text, a number, true or false for a check box, an option's name for a list.",
		params:      appProp + `,` + queryProp + `,` + nthProp + `, "value": {"type": "string", "maxLength": 100000}`,
		required:    `["app", "query", "value"]`, secret: []string{"value"},
		vain: d.missing,
		run:  func(ctx context.Context, call *aai.Call) (*aai.Result, error) { return d.look(ctx, call, setValue) },
	}.tool()
}

func setValue(ctx context.Context, v *view) (*aai.Result, error) {
	m, err := v.toActOn(ctx, textArg(v.call, "query"))
	if err != nil {
		return nil, err
	}
	if err := v.mayType(ctx, m.index); err != nil {
		return nil, err
	}
	value := textArg(v.call, "value")
	e := &v.shot.Elements[m.index]
	switch {
	case e.States.Has(desktop.Checkable) || e.Role == desktop.Checkbox || e.Role == desktop.Switch:
		return v.setChecked(ctx, m.index, value)
	case e.Role == desktop.Slider || e.Role == desktop.Spinbutton || e.Role == desktop.Scrollbar:
		return v.setNumber(ctx, m.index, value)
	case e.Role == desktop.Combobox && !e.States.Has(desktop.Editable), e.Role == desktop.Listbox, e.Role == desktop.List, e.Role == desktop.Tablist:
		return v.choose(ctx, m.index, value)
	}
	a := deed{view: v, index: m.index, done: "Set"}
	a.ways = []way{
		v.byAsking(m.index, "its editable text", desktop.Act{Verb: desktop.SetText, Text: value}),
		v.byAsking(m.index, "its value", desktop.Act{Verb: desktop.SetNumber, Number: numberOr(value, 0)}),
		v.byTyping(m.index, value, true),
	}
	if math.IsNaN(numberOr(value, math.NaN())) {
		a.ways = append(a.ways[:1], a.ways[2])
	}
	a.verify = v.typed(m.index, *e, value, true)
	return a.perform(ctx)
}

func numberOr(text string, otherwise float64) float64 {
	f, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsInf(f, 0) {
		return otherwise
	}
	return f
}

func (v *view) setNumber(ctx context.Context, i int, text string) (*aai.Result, error) {
	e := &v.shot.Elements[i]
	number := numberOr(text, math.NaN())
	if math.IsNaN(number) {
		return nil, aai.Errorf(aai.InvalidParams, "value: expected a number for %s", desktop.Describe(e))
	}
	if e.Min < e.Max && (number < e.Min || number > e.Max) {
		return nil, aai.Errorf(aai.InvalidParams, "value: expected a number from %v to %v for %s", e.Min, e.Max, desktop.Describe(e))
	}
	id := e.ID
	a := deed{view: v, index: i, done: "Set", ways: []way{
		v.byAsking(i, "its value", desktop.Act{Verb: desktop.SetNumber, Number: number}),
	}}
	a.verify = func(ctx context.Context) (string, bool) {
		now, err := v.backend.Tree.Read(ctx, v.app, id)
		if err != nil {
			return "", false
		}
		got := numberOr(now.Value, math.NaN())
		if math.Abs(got-number) < 1e-6*math.Max(1, math.Abs(number)) {
			return "", true
		}
		return fmt.Sprintf("it is now %s and not %v", aai.CleanLabel(now.Value, 40), number), false
	}
	return a.perform(ctx)
}

func (v *view) setChecked(ctx context.Context, i int, text string) (*aai.Result, error) {
	want, err := strconv.ParseBool(strings.ToLower(text))
	if err != nil {
		return nil, aai.Errorf(aai.InvalidParams, "value: expected true or false for %s", desktop.Describe(&v.shot.Elements[i]))
	}
	e := &v.shot.Elements[i]
	if e.States.Any(desktop.Checked|desktop.Pressed) == want && !e.States.Has(desktop.Mixed) {
		return &aai.Result{Text: v.name(i) + " was so already.", Data: deedResult{Verified: true, Changes: []string{}, Element: v.brief(v.shot, i)}}, nil
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
	var names []string
	for c := i + 1; c < e.End; c++ {
		option := &v.shot.Elements[c]
		if !option.Role.InSet() {
			continue
		}
		names = append(names, aai.CleanLabel(option.Name, 60))
		if !strings.EqualFold(strings.TrimSpace(option.Name), strings.TrimSpace(name)) {
			continue
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
