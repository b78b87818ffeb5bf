package gui

import (
	"context"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
	"github.com/gybob/aai-gateway/internal/gui/params"
	"github.com/gybob/aai-gateway/internal/gui/snapview"
)

// setValueName is the tool that most undo steps use.
const setValueName = "ax_set_value"

func (d *engine) setValueTool() *aai.Tool {
	return spec{
		name: setValueName, title: "Set element value", types: true,
		returns:     actionReturns,
		description: "Set an element's value: a text, a number as text (\"7\"), \"true\" or \"false\" for a check box, an option's name for a list. \\n and \\t separate rows and cells, starting at the cell.",
		params:      appProp + `,` + queryProp + `,` + nthProp + `, "value": {"type": "string", "maxLength": 100000}`,
		required:    `["app", "query", "value"]`, secret: []string{"value"},
		precheck: d.precheckQueries,
		run: func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
			return d.withViewToAct(ctx, call, setValue)
		},
	}.tool()
}

func setValue(ctx context.Context, v *view) (*aai.Result, error) {
	m, err := v.findForAction(ctx, params.String(v.call, "query"))
	if err != nil {
		return nil, err
	}
	if err := v.mayType(ctx, m.index); err != nil {
		return nil, err
	}
	if !v.IsTypedText(m.index) {
		gateway.MarkNotSecret(ctx, "value")
	}
	return v.set(ctx, m.index, params.String(v.call, "value"))
}

// set sets the value of the element, and adds the Undo.
func (v *view) set(ctx context.Context, i int, value string) (*aai.Result, error) {
	if field := v.ToolbarField(i); field >= 0 {
		i = field
	}
	was := v.readFieldValue(ctx, i)
	if err := v.checkUnchanged(was); err != nil {
		return nil, err
	}
	out, err := v.setAs(ctx, i, value)
	return v.withUndo(ctx, was, out, err)
}

// setAs sets the value of the element, in the way of its kind.
func (v *view) setAs(ctx context.Context, i int, value string) (*aai.Result, error) {
	e := &v.Snapshot.Elements[i]
	switch {
	case e.States.Has(desktop.ReadOnly):
		return nil, v.readOnlyError(i)
	case e.States.Has(desktop.Checkable) || e.Role == desktop.Checkbox || e.Role == desktop.Switch:
		return v.setChecked(ctx, i, value)
	case isDateTimeText(e):
		return v.setDateTimeText(ctx, i, value)
	case e.Role == desktop.Slider || e.Role == desktop.Spinbutton || e.Role == desktop.Scrollbar:
		return v.setNumber(ctx, i, value)
	case e.Role == desktop.Combobox && !e.States.Has(desktop.Editable), e.Role == desktop.Listbox, e.Role == desktop.List, e.Role == desktop.Tablist:
		return v.choose(ctx, i, value)
	case v.ToolbarField(i) >= 0:
		return v.setToolbarField(ctx, v.ToolbarField(i), value)
	case len(v.Radios(i)) > 0:
		return v.chooseRadio(ctx, i, value)
	case len(v.DateTimeParts(i)) > 0:
		return v.setDateTime(ctx, i, value)
	case v.Spins(i) != nil:
		return nil, v.unknownParts(i)
	case e.Role == desktop.Cell:
		return v.setCell(ctx, i, value)
	case e.Role == desktop.Grid && e.End == i+1 && e.UnreadChildren == 0:
		return nil, v.drawnOnly(i)
	}
	return v.setText(ctx, i, value)
}

// readOnlyError returns the error for a read-only field.
func (v *view) readOnlyError(i int) error {
	e := guierr.Failed(aai.NotDelivered, "%s is read-only", v.Name(i))
	aai.AsError(e).Hint = "Its value can be read, but not changed."
	return e
}

func (v *view) setText(ctx context.Context, i int, value string) (*aai.Result, error) {
	before, err := v.read(ctx, v.Snapshot.Elements[i].ID)
	if err != nil {
		return nil, err
	}
	v.keepSecret(i, value)
	held, want := fieldtext.Normalize(before.Value), fieldtext.Normalize(value)
	if !before.States.Has(desktop.Protected) && (held == want || fieldtext.ReplaceNoBreakSpaces(held) == want) && value != "" {
		return v.alreadySetResult(i), nil
	}
	a := action{view: v, index: i, doneText: "Set"}
	a.techniques = []technique{
		v.byAccessibility(i, "its editable text", desktop.Act{Verb: desktop.SetText, Text: value}),
		v.byAccessibility(i, "its value", desktop.Act{Verb: desktop.SetNumber, Number: fieldtext.ParseNumber(value, 0)}),
		v.byTyping(i, value, true),
	}
	if math.IsNaN(fieldtext.ParseNumber(value, math.NaN())) {
		a.techniques = append(a.techniques[:1], a.techniques[2])
	}
	leaves := v.tabLeaves(i, value)
	switch {
	case leaves:
		a.techniques = a.techniques[:len(a.techniques)-1]
	case v.skipsValidator(i, before.Value, value):
		slices.Reverse(a.techniques)
	}
	if !v.relays(i) {
		a.verify = v.verifyTyped(i, before, value, true)
	}
	seen := v.Snapshot
	out, err := a.execute(ctx)
	if stray := v.findStrayText(ctx, seen, before.ID, value, out, err); stray != nil {
		return nil, stray
	}
	return out, tabError(err, "value", leaves)
}

// skipsValidator reports whether the accessibility interface may accept a text that the keyboard
// could not enter. A field with a number probably
// has a validator, if the new text has letters.
func (v *view) skipsValidator(i int, held, text string) bool {
	e := &v.Snapshot.Elements[i]
	line := v.app.SkipsValidators && e.Role == desktop.Textbox && !e.States.Has(desktop.Multiline)
	number := held != "" && !strings.ContainsFunc(held, unicode.IsLetter)
	return line && number && strings.ContainsFunc(text, unicode.IsLetter)
}

// tabLeaves reports whether a typed tab would leave the element: the rest would go into the next
// one.
func (v *view) tabLeaves(i int, text string) bool {
	return strings.Contains(text, "\t") && (v.app.IsBrowser || !snapview.KeepsTab(&v.Snapshot.Elements[i]))
}

// tabError returns the error for a text with a tab that could not be set without typing.
func tabError(err error, name string, leaves bool) error {
	e := aai.AsError(err)
	if e == nil || !leaves || e.Code != aai.AutomationNotSupported || e.Delivery != aai.NotDelivered {
		return err
	}
	return &aai.Error{
		Code: aai.InvalidParams, Delivery: aai.NotDelivered,
		Message: name + ": expected no tab: it moves to the next field, and the rest would be typed there",
		Hint:    "Leave it out, or write the text to the clipboard with ax_clipboard and press v with ctrl.",
	}
}

// alreadySetResult is the result for an element that already has the value.
func (v *view) alreadySetResult(i int) *aai.Result {
	return &aai.Result{
		Text: v.Name(i) + " has this value already; no action.", NoOp: true,
		Data: actionResult{Verified: true, Changes: []string{}, Element: v.Summarize(v.Snapshot, i)},
	}
}

// drawnOnly returns the error for a grid without reported children, such as a GTK 3 calendar.
func (v *view) drawnOnly(i int) error {
	e := aai.Errorf(aai.AutomationNotSupported, "%s reports none of its content, as a calendar of GTK 3 does, so nothing can be set in it by name", v.Name(i))
	e.Delivery = aai.NotDelivered
	e.Hint = `Set the field beside it, if there is one. Or give it the keyboard by ax_click with mode "focus", and press keys by ax_key_press: arrows go from day to day, with ctrl from month to month and year to year, and space chooses; ax_screenshot shows the chosen day.`
	return e
}
