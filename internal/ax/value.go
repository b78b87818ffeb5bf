package ax

import (
	"context"
	"math"

	"aai"
	"aai/internal/desktop"
)

func (d *desk) setValueTool() *aai.Tool {
	return spec{
		name: "ax_set_value", title: "Set element value", types: true,
		returns:     deedReturns,
		description: "Set what an element holds: a text, a number as text (\"7\"), \"true\" or \"false\" for a check box, an option's name for a list. Rows of cells are parted by \\n and \\t, and begin in the cell.",
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
	if !v.typedIn(m.index) {
		aai.NotSecret(ctx, "value")
	}
	return v.set(ctx, m.index, textArg(v.call, "value"))
}

// set makes the element hold the value, in the way of its kind.
func (v *view) set(ctx context.Context, i int, value string) (*aai.Result, error) {
	e := &v.shot.Elements[i]
	switch {
	case e.States.Has(desktop.ReadOnly):
		e := failed(aai.NotDelivered, "%s is read-only", v.name(i))
		aai.AsError(e).Hint = "What it holds can be read, and not be changed."
		return nil, e
	case e.States.Has(desktop.Checkable) || e.Role == desktop.Checkbox || e.Role == desktop.Switch:
		return v.setChecked(ctx, i, value)
	case e.Role == desktop.Slider || e.Role == desktop.Spinbutton || e.Role == desktop.Scrollbar:
		return v.setNumber(ctx, i, value)
	case e.Role == desktop.Combobox && !e.States.Has(desktop.Editable), e.Role == desktop.Listbox, e.Role == desktop.List, e.Role == desktop.Tablist:
		return v.choose(ctx, i, value)
	case len(v.radios(i)) > 0:
		return v.chooseRadio(ctx, i, value)
	case len(v.momentParts(i)) > 0:
		return v.setMoment(ctx, i, value)
	case e.Role == desktop.Cell:
		return v.setCell(ctx, i, value)
	}
	return v.setText(ctx, i, value)
}

// typedIn reports whether what the element holds is what somebody typed, which may be a
// secret: an option's name, a number and a tick are none.
func (v *view) typedIn(i int) bool {
	e := &v.shot.Elements[i]
	switch e.Role {
	case desktop.Checkbox, desktop.Switch, desktop.Radio, desktop.Slider, desktop.Spinbutton, desktop.Scrollbar, desktop.Listbox, desktop.List, desktop.Tablist:
		return false
	case desktop.Combobox:
		return e.States.Has(desktop.Editable)
	}
	return len(v.momentParts(i)) == 0 && len(v.radios(i)) == 0
}

func (v *view) setText(ctx context.Context, i int, value string) (*aai.Result, error) {
	before, err := v.read(ctx, v.shot.Elements[i].ID)
	if err != nil {
		return nil, err
	}
	if !before.States.Has(desktop.Protected) && normalized(before.Value) == normalized(value) && value != "" {
		return v.already(i), nil
	}
	a := deed{view: v, index: i, done: "Set"}
	a.ways = []way{
		v.byAsking(i, "its editable text", desktop.Act{Verb: desktop.SetText, Text: value}),
		v.byAsking(i, "its value", desktop.Act{Verb: desktop.SetNumber, Number: numberOr(value, 0)}),
		v.byTyping(i, value, true),
	}
	if math.IsNaN(numberOr(value, math.NaN())) {
		a.ways = append(a.ways[:1], a.ways[2])
	}
	a.verify = v.typed(i, before, value, true)
	return a.perform(ctx)
}

// already is the answer where an element holds what it is to hold.
func (v *view) already(i int) *aai.Result {
	return &aai.Result{
		Text: v.name(i) + " was so already; nothing was done.",
		Data: deedResult{Verified: true, Changes: []string{}, Element: v.brief(v.shot, i)},
	}
}
