package gui

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
	"github.com/gybob/aai-gateway/internal/gui/params"
)

// typeName is the tool that types.
const typeName = "ax_type"

// textParam returns the name of the call's parameter for the text that an element gets.
func (v *view) textParam() string {
	if params.Has(v.call, "text") {
		return "text"
	}
	return "value"
}

func (d *engine) typeTool() spec {
	return spec{
		name: typeName, title: "Type text", types: true,
		description: "Type text into an element, or into the program's focused one. Any Unicode; in a field of one line \\n is return and \\t tab.",
		params: appProp + `,` + queryProp + `,` + nthProp + `,
			"text": {"type": "string", "maxLength": 100000},
			"clear_first": {"type": "boolean", "default": false},
			"submit": {"type": "boolean", "default": false, "description": "Then press return"},` + modeProp,
		required: `["app", "text"]`, secret: []string{"text"}, fillsSecrets: true,
		precheck: d.precheckQueries,
		run: func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
			return d.withViewToAct(ctx, call, typeText)
		},
	}
}

func typeText(ctx context.Context, v *view) (*aai.Result, error) {
	if v.noTree {
		return v.typeWithoutTree(ctx)
	}
	query := params.String(v.call, "query")
	var m match
	var err error
	if query == "" {
		m, err = v.typingTarget(ctx, v.findForAction)
	} else {
		m, err = v.findForAction(ctx, query)
	}
	if err != nil {
		return nil, err
	}
	if err := v.mayType(ctx, m.index); err != nil {
		return nil, err
	}
	text, replace := params.String(v.call, "text"), params.Bool(v.call, "clear_first")
	if gateway.HasSecret(text) && query == "" {
		return nil, guierr.Failed(aai.NotDelivered, "a text with a secret needs the field as query")
	}
	if text == "" && !replace && !params.Bool(v.call, "submit") {
		out := v.alreadySetResult(m.index)
		out.Text = "Nothing was typed into " + v.name(m.index) + ": the text is empty."
		return out, nil
	}
	if keysIn(&v.snapshot.Elements[m.index], text) && strings.ContainsAny(text, "\n\r") {
		return v.typeLines(ctx, m.index, text, replace)
	}
	if params.Bool(v.call, "submit") {
		return v.typeAndSend(ctx, m.index, text, replace)
	}
	return v.typeInto(ctx, m.index, text, replace)
}

// typeInto types a text into the element, after its content or in its place.
func (v *view) typeInto(ctx context.Context, i int, text string, replace bool) (*aai.Result, error) {
	if gateway.HasSecret(text) {
		return v.fillSecret(ctx, i, text, replace)
	}
	return v.typePlain(ctx, i, gateway.UnescapeSecrets(text), replace)
}

// typePlain is typeInto for a text without secrets.
func (v *view) typePlain(ctx context.Context, i int, text string, replace bool) (*aai.Result, error) {
	e := &v.snapshot.Elements[i]
	if e.States.Has(desktop.ReadOnly) && (e.Role == desktop.Textbox || e.Role == desktop.Searchbox) {
		return nil, v.readOnlyError(i)
	}
	if !keysIn(e, text) && (isDateTimeText(e) || len(v.dateTimeParts(i)) > 0 && text != "") {
		return v.set(ctx, i, text)
	}
	if takesKeys(e) && replace {
		return nil, v.noClearing(i)
	}
	v.keepSecret(i, text)
	before, err := v.read(ctx, e.ID)
	if err != nil {
		return nil, err
	}
	a := action{view: v, index: i, doneText: "Typed into"}
	act := desktop.Act{Verb: desktop.InsertText, Text: text}
	if replace || before.Value == "" {
		a.text = text
	}
	if replace {
		act.Verb = desktop.SetText
	}
	var was fieldValue
	keys := keysIn(e, text) || takesKeys(e)
	lost := !keys && v.tabLeaves(i, text)
	if lost || !params.TakesFocus(v.call) && !keys {
		way := v.byAccessibility(i, "its editable text", act)
		if number := fieldtext.ParseNumber(text, math.NaN()); replace && e.Role == desktop.Spinbutton && !math.IsNaN(number) {
			way = numberEdit{v, before, number, text}.withVerification(way)
		}
		a.techniques = append(a.techniques, way)
	}
	if !lost { // a page takes tab as a key that leaves the field
		a.techniques = append(a.techniques, v.byTyping(i, text, replace))
	}
	if v.skipsValidator(i, before.Value, text) {
		slices.Reverse(a.techniques)
	}
	if takesKeys(e) {
		v.watchWindow()
	}
	if !keys && !v.relays(i) { // the effect of keys is unknown beforehand
		a.verify, was = v.verifyTyped(i, before, text, replace), v.readFieldValue(ctx, i)
	}
	edits := fieldtext.IsSheetCell(e) && !strings.HasSuffix(text, "\n")
	seen := v.snapshot
	out, err := a.execute(ctx)
	if !keys {
		if stray := v.findStrayText(ctx, seen, before.ID, text, out, err); stray != nil {
			return nil, stray
		}
	}
	if err == nil && edits {
		out.Text, out.DataComplete = out.Text+"\nThe cell is being edited: return ends that.", false
	}
	return v.withUndo(ctx, was, out, tabError(err, "text", lost))
}

// keysIn reports whether the text contains keys that are not content. In a single-line field a line
// end is return, and a tab leads to the next field.
func keysIn(e *desktop.Element, text string) bool {
	one := e.Role == desktop.Textbox || e.Role == desktop.Searchbox || e.Role == desktop.Spinbutton || e.Role == desktop.Combobox
	return one && !e.States.Has(desktop.Multiline) && strings.ContainsAny(text, "\n\r\t")
}

// relays reports whether the element is a page field that only relays keys and keeps no text.
func (v *view) relays(i int) bool { return v.app.IsBrowser && v.snapshot.Elements[i].IsKeyRelay() }

// verifyTyped returns a verify function that reads the text back.
func (v *view) verifyTyped(i int, before desktop.Element, text string, replace bool) func(context.Context) (string, bool) {
	if fieldtext.IsSheetCell(&v.snapshot.Elements[i]) {
		return v.typedCell(i, before, text)
	}
	id := v.snapshot.Elements[i].ID
	n := numberEdit{v, before, fieldtext.ParseNumber(text, math.NaN()), text}
	return func(ctx context.Context) (string, bool) {
		if before.States.Has(desktop.Protected) {
			return "", false
		}
		now, err := v.backend.Tree.Read(ctx, v.app, id)
		if err != nil {
			return "", false
		}
		want, was := fieldtext.Normalize(text), fieldtext.Normalize(before.Value)
		switch got := fieldtext.Normalize(now.Value); {
		case replace && got == was && got != want && strings.EqualFold(got, want):
			return fmt.Sprintf("its value is still %q", aai.CleanLabel(now.Value, 100)), false
		case replace && fieldtext.IsReformatted(got, want), !replace && got != was && fieldtext.IsReformatted(got, was+want):
			return "", true
		case replace && (got == want || fieldtext.ReplaceNoBreakSpaces(got) == want || before.Role == desktop.Spinbutton && n.matches(now.Value)):
			return "", true
		case !replace && got != was && (strings.Contains(got, want) || strings.Contains(fieldtext.ReplaceNoBreakSpaces(got), want)):
			return "", true
		case !replace && text == "":
			return "", true
		case before.DevTools && fieldtext.IsSameDate(got, want):
			return "", true
		case replace && before.Role == desktop.Spinbutton && n.mayMatch(now.Value):
			return "", false
		case now.States.Has(desktop.Editable):
			const short = 60 // a longer repetition of the text would be redacted together with the whole message
			if n := utf8.RuneCountInString(now.Value); n > short {
				return fmt.Sprintf("its value is now another text, of %d characters", n), false
			}
			return fmt.Sprintf("its value is now %q", aai.CleanLabel(now.Value, 100)), false
		}
		return "", false
	}
}

// enterCell moves the cursor of a sheet to the cell, so that keys go there, without raising the
// window.
func (v *view) enterCell(ctx context.Context, i int, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
	at, err := v.clickPoint(i, w)
	if err != nil {
		return err
	}
	if seat == desktop.PersonSeat {
		return input.Click(ctx, seat, w.ID, at, desktop.LeftButton, 1)
	}
	if v.backend.Actor == nil {
		return guierr.Unsupported("actions on elements")
	}
	return v.focusByAction(ctx, i, desktop.Act{Verb: desktop.TakeFocus}, input, seat, w)
}
