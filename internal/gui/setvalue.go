package gui

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
	"github.com/gybob/aai-gateway/internal/gui/params"
)

// setValueName is the tool that most undo steps use.
const setValueName = "ax_set_value"

func (d *engine) setValueTool() spec {
	return spec{
		name: setValueName, title: "Set element value", types: true,
		description: "Set an element's value: a text, a number, true or false for a check box, an option's name, expanded or collapsed for a tree's item. \\n and \\t separate rows and cells, starting at the cell.",
		params: appProp + `,` + queryProp + `,` + nthProp + `, "value": {"type": "string", "maxLength": 100000},
			"upload": {"type": "string", "description": "File for a page"}`,
		required: `["app", "query"]`, secret: []string{"value"}, fillsSecrets: true, idempotent: true,
		precheck: d.precheckSetValue, sends: uploadName,
		run: func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
			return d.withViewToAct(ctx, call, setValue)
		},
	}
}

func setValue(ctx context.Context, v *view) (*aai.Result, error) {
	if err := checkSetValue(v.call); err != nil {
		return nil, err
	}
	m, err := v.findForAction(ctx, params.String(v.call, "query"))
	if err != nil {
		return nil, err
	}
	if path := params.String(v.call, uploadName); path != "" {
		return v.upload(ctx, m.index, path)
	}
	if err := v.mayType(ctx, m.index); err != nil {
		return nil, err
	}
	if !v.isTypedText(m.index) {
		gateway.MarkNotSecret(ctx, "value")
	}
	value := params.String(v.call, "value")
	if gateway.HasSecret(value) {
		return v.fillSecret(ctx, m.index, value, true)
	}
	return v.set(ctx, m.index, gateway.UnescapeSecrets(value))
}

// set sets the value of the element, and adds the Undo.
func (v *view) set(ctx context.Context, i int, value string) (*aai.Result, error) {
	if field := v.toolbarField(i); field >= 0 {
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
	e := &v.snapshot.Elements[i]
	switch {
	case e.States.Has(desktop.ReadOnly):
		return nil, v.readOnlyError(i)
	case e.States.Has(desktop.Checkable) || e.Role == desktop.Checkbox || e.Role == desktop.Switch:
		return v.setChecked(ctx, i, value)
	case v.isExpansion(i, value):
		return v.setExpanded(ctx, i, value)
	case v.toggleBeside(i, value) >= 0:
		return v.setChecked(ctx, v.toggleBeside(i, value), value, i)
	case v.isItemCheck(i, value):
		return v.setItemChecked(ctx, i, strings.EqualFold(value, "true"))
	case isDateTimeText(e):
		return v.setDateTimeText(ctx, i, value)
	case e.Role == desktop.Slider || e.Role == desktop.Spinbutton || e.Role == desktop.Scrollbar:
		return v.setNumber(ctx, i, value)
	case e.Role == desktop.Combobox && !e.States.Has(desktop.Editable), e.Role == desktop.Listbox, e.Role == desktop.List, e.Role == desktop.Tablist:
		return v.choose(ctx, i, value)
	case v.toolbarField(i) >= 0:
		return v.setToolbarField(ctx, v.toolbarField(i), value)
	case len(v.radios(i)) > 0:
		return v.chooseRadio(ctx, i, value)
	case len(v.dateTimeParts(i)) > 0:
		return v.setDateTime(ctx, i, value)
	case v.spins(i) != nil:
		return nil, v.unknownParts(i)
	case e.Role == desktop.Cell && !v.isEditableInPage(i):
		return v.setCell(ctx, i, value)
	case e.Role == desktop.Grid && e.End == i+1 && e.UnreadChildren == 0:
		return nil, v.drawnOnly(i)
	case e.Role.IsSetMember() && takesKeys(e): // its list would search for the keys
		return nil, v.noItemValue(i)
	case v.boxOfField(i) >= 0:
		return v.setBoxField(ctx, i, value)
	}
	return v.setText(ctx, i, value)
}

// noItemValue returns the error for an item of a list, which is chosen or opened and has no value.
func (v *view) noItemValue(i int) error {
	e := aai.Errorf(aai.InvalidParams, "value: %s takes no value; expected expanded or collapsed for an item that opens", v.name(i))
	e.Delivery, e.Hint = aai.NotDelivered, "ax_click chooses it."
	return e
}

// isEditableInPage reports whether the element is content of a page that is edited in its place, such as a cell of a
// table with the attribute contenteditable.
func (v *view) isEditableInPage(i int) bool {
	return v.app.IsBrowser && v.snapshot.Elements[i].States.Has(desktop.Editable)
}

// readOnlyError returns the error for a read-only field.
func (v *view) readOnlyError(i int) error {
	e := guierr.Failed(aai.NotDelivered, "%s is read-only", v.name(i))
	aai.AsError(e).Hint = "Its value can be read, but not changed."
	return e
}

func (v *view) setText(ctx context.Context, i int, value string) (*aai.Result, error) {
	before, err := v.read(ctx, v.snapshot.Elements[i].ID)
	if err != nil {
		return nil, err
	}
	v.keepSecret(i, value)
	held, want := fieldtext.Normalize(before.Value), fieldtext.Normalize(value)
	if !before.States.Has(desktop.Protected) && (held == want || fieldtext.ReplaceNoBreakSpaces(held) == want) && value != "" {
		return v.alreadySetResult(i), nil
	}
	a := action{view: v, index: i, doneText: "Set", text: value}
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
	seen := v.snapshot
	out, err := a.execute(ctx)
	if stray := v.findStrayText(ctx, seen, before.ID, value, out, err); stray != nil {
		return nil, stray
	}
	if err == nil {
		v.engine.Sessions.For(v.call).MarkTarget(before.ID)
	}
	return out, tabError(err, "value", leaves)
}

// skipsValidator reports whether the accessibility interface may accept a text that the keyboard
// could not enter. A field with a number probably
// has a validator, if the new text has letters.
func (v *view) skipsValidator(i int, held, text string) bool {
	e := &v.snapshot.Elements[i]
	line := v.app.SkipsValidators && e.Role == desktop.Textbox && !e.States.Has(desktop.Multiline)
	number := held != "" && !strings.ContainsFunc(held, unicode.IsLetter)
	return line && number && strings.ContainsFunc(text, unicode.IsLetter)
}

// tabLeaves reports whether a typed tab would leave the element: the rest would go into the next
// one.
func (v *view) tabLeaves(i int, text string) bool {
	return strings.Contains(text, "\t") && (v.app.IsBrowser || !v.keepsTab(i))
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
		Text: v.name(i) + " has this value already; no action.", NoOp: true,
		Data: actionResult{Verified: true, Changes: []string{}, Element: v.summarize(i)},
	}
}

// drawnOnly returns the error for a grid without reported children, such as a GTK 3 calendar.
func (v *view) drawnOnly(i int) error {
	e := aai.Errorf(aai.AutomationNotSupported, "%s reports none of its content, as a calendar of GTK 3 does, so nothing can be set in it by name", v.name(i))
	e.Delivery = aai.NotDelivered
	e.Hint = `Set the field beside it, if there is one. Or give it the keyboard by ax_click with mode "focus", and press keys by ax_key_press: arrows go from day to day, with ctrl from month to month and year to year, and space chooses; ax_screenshot shows the chosen day.`
	return e
}

// rewritesWithin limits the wait until a measure is shown with its unit, which proves the accepted
// value. LibreOffice does not always show it.
const rewritesWithin = 2 * effectCeiling

// setToolbarField sets the field of a tool bar box, and activates it as return would: the text
// alone has no effect.
func (v *view) setToolbarField(ctx context.Context, field int, value string) (*aai.Result, error) {
	id := v.snapshot.Elements[field].ID
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

// toolbarField returns the field of a tool bar box, given the field or the box; -1 for others.
// LibreOffice's boxes for fonts and styles are a named group with an unnamed field and button.
func (v *view) toolbarField(i int) int {
	if e := &v.snapshot.Elements[i]; e.Role == desktop.Textbox {
		i = v.nonLayoutAncestor(e.Parent)
	}
	if i < 0 || v.snapshot.Elements[i].Role != desktop.Group || desktop.IsBlank(v.snapshot.Elements[i].Name) {
		return -1
	}
	if bar := v.nonLayoutAncestor(v.snapshot.Elements[i].Parent); bar < 0 || v.snapshot.Elements[bar].Role != desktop.Toolbar {
		return -1
	}
	field := -1
	for c := i + 1; c < v.snapshot.Elements[i].End; c++ {
		switch e := &v.snapshot.Elements[c]; {
		case !e.States.Has(desktop.Showing): // the list that opens
		case e.Role == desktop.Textbox && field < 0 && desktop.IsBlank(e.Name) && e.States.Has(desktop.Editable) && e.IsActionable(""):
			field = c
		case e.Role.IsInteractive() && (e.Role != desktop.Button || !desktop.IsBlank(e.Name)):
			return -1
		}
	}
	return field
}

// nonLayoutAncestor returns i or its nearest ancestor that is more than layout; -1 for none.
func (v *view) nonLayoutAncestor(i int) int {
	for i >= 0 && desktop.IsBlank(v.snapshot.Elements[i].Name) && (v.snapshot.Elements[i].Role == desktop.Generic || v.snapshot.Elements[i].Role == desktop.Group) {
		i = v.snapshot.Elements[i].Parent
	}
	return i
}

// measure matches a number, with or without a unit.
var measure = regexp.MustCompile(`^[+-]?[\d.,]+\s?(\pL{1,3}|%|")?$`)

// isSameMeasure reports whether a box with the text holds the value: the box adds the unit to a
// number, as in "12 pt".
func isSameMeasure(shows, value string) bool {
	shows, value = fieldtext.Normalize(shows), fieldtext.Normalize(value)
	number, unit, _ := strings.Cut(shows, " ")
	return shows == value || unit != "" && number == value && strings.Trim(value, "0123456789.,") == ""
}
