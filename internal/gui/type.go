package gui

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
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
		required: `["app", "text"]`, secret: []string{"text"},
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

// byTyping returns a technique that focuses the element and types.
func (v *view) byTyping(i int, text string, replace bool) technique {
	return v.byKeys(i, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		if err := v.tooLong(text); err != nil {
			return err
		}
		focus := v.moveFocus
		if takesKeys(&v.snapshot.Elements[i]) {
			focus = v.focusWithoutPress
		}
		if err := focus(ctx, i, input, seat, w); err != nil {
			return err
		}
		if replace {
			return v.overwrite(ctx, i, input, seat, w, func(input desktop.Input) error {
				if text == "" {
					return input.Key(ctx, seat, w.ID, desktop.Chord{Key: "delete"})
				}
				return v.putText(ctx, i, text, input, seat, w)
			})
		}
		if e := &v.snapshot.Elements[i]; v.app.FocusOnlyWhenActive && seat == desktop.OwnSeat && !e.States.Has(desktop.Focused) { // its caret position is unknown
			if err := input.Key(ctx, seat, w.ID, desktop.Chord{Key: "end", Modifiers: []string{"ctrl"}}); err != nil {
				return err
			}
		}
		return v.putText(ctx, i, text, input, seat, w)
	})
}

// putText types the text into the focused element.
func (v *view) putText(ctx context.Context, i int, text string, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
	put := func(part string) error { return input.Type(ctx, seat, w.ID, part) }
	if v.app.IsBrowser && v.snapshot.Elements[i].States.Has(desktop.Multiline) {
		typed := put
		put = func(part string) error {
			return byLines(part, typed, func() error {
				return input.Key(ctx, seat, w.ID, desktop.Chord{Key: "return", Modifiers: []string{"shift"}})
			})
		}
	}
	return v.inPortions(ctx, v.snapshot.Elements[i].ID, text, put)
}

// byLines types a text with a separate key for line ends: in a page's multiline field plain return
// may send it, and shift+return does not.
func byLines(text string, put func(string) error, end func() error) error {
	for n, line := range strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text), "\n") {
		if n > 0 {
			if err := end(); err != nil {
				return err
			}
		}
		if line == "" {
			continue
		}
		if err := put(line); err != nil {
			return err
		}
	}
	return nil
}

const (
	// maxKeys limits the characters typed by keys into a browser. It becomes slower with each one:
	// this many take half the time of a call, twice as many four times that. It hangs or exits at
	// some ten thousand at once.
	maxKeys = 5000
	// portion is how many are typed before a check of the field.
	portion = 200
	// slowKeys is how long a field may stop growing before the next portion.
	slowKeys = 2 * time.Second
)

// tooLong returns the error for a text that is too long to type by keys into a browser.
func (v *view) tooLong(text string) error {
	n := utf8.RuneCountInString(text)
	if !v.app.IsBrowser || n <= maxKeys {
		return nil
	}
	return &aai.Error{
		Code: aai.InvalidParams, Delivery: aai.NotDelivered,
		Message: fmt.Sprintf("%s: expected at most %d characters, the limit for typing by keys; got %d", v.textParam(), maxKeys, n),
		Hint:    "Give it in parts by ax_type, or write it to the clipboard with ax_clipboard and press v with ctrl.",
	}
}

// inPortions types the text, in a browser in portions, each after the field shows the previous one.
// Faster typing makes a browser fall behind for good. A field that shows nothing gets the portions
// without a wait. Other programs get all at once: an editor redraws a long line for each portion.
func (v *view) inPortions(ctx context.Context, id desktop.ID, text string, put func(string) error) error {
	if !v.app.IsBrowser {
		return put(text)
	}
	left := []rune(text)
	all := len(left)
	held := func() (int, error) {
		now, err := v.backend.Tree.Read(ctx, v.app, id)
		return utf8.RuneCountInString(now.Value), typedOnly(err, all-len(left), all)
	}
	for shows := true; ; {
		part := left[:min(portion, len(left))]
		left = left[len(part):]
		before, err := 0, error(nil)
		if len(left) > 0 && shows {
			if before, err = held(); err != nil {
				return err
			}
		}
		if err := put(string(part)); err != nil || len(left) == 0 {
			return typedOnly(err, all-len(left)-len(part), all)
		}
		if !shows {
			continue
		}
		if shows, err = v.awaitGrowth(ctx, before, len(part), held); err != nil {
			return err
		}
	}
}

// typedOnly adds to an error that only the beginning of the text was typed.
func typedOnly(err error, typed, all int) error {
	if err == nil || typed == 0 {
		return err
	}
	e := *aai.AsError(err)
	e.Message = fmt.Sprintf("after %d of %d characters: %s", typed, all, e.Message)
	e.Delivery, e.Hint = aai.DeliveryUnknown, "Read the field's value before you try again."
	return &e
}

// awaitGrowth waits until the field has grown by so many characters, or stops growing, and reports
// whether it has grown.
func (v *view) awaitGrowth(ctx context.Context, before, by int, held func() (int, error)) (bool, error) {
	last := before
	for {
		more, err := v.pollUntil(ctx, slowKeys, func() (bool, error) {
			was := last
			var err error
			last, err = held()
			return last != was, err
		})
		if err != nil || !more || last >= before+by {
			return err != nil || last != before, err
		}
	}
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

// deselectTimeout limits the removal of a selection, even after the end of the call.
const deselectTimeout = time.Second

// overwrite selects the whole content of the element, which has the keyboard focus, and calls write
// to replace it. On failure it removes the selection, so that later typing replaces nothing. The
// error reports if the content is unchanged.
func (v *view) overwrite(ctx context.Context, i int, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo, write func(desktop.Input) error) error {
	before, unread := v.backend.Tree.Read(ctx, v.app, v.snapshot.Elements[i].ID)
	earlier := false
	outer, counts := withoutFocusCheck(input).(trackedInput)
	if counts {
		earlier = *outer.hasInput
	}
	typed := trackedInput{input, new(bool), v.checkReach}
	err := input.Key(ctx, seat, w.ID, desktop.Chord{Key: "a", Modifiers: []string{"ctrl"}})
	if err == nil {
		err = write(typed)
	} else if aai.AsError(err).Delivery == aai.NotDelivered {
		return err // nothing is selected
	}
	if err == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deselectTimeout)
	defer cancel()
	e := *aai.AsError(err)
	if input.Key(ctx, seat, w.ID, desktop.Chord{Key: "right"}) != nil {
		e.Message += "; its text may still be selected"
		e.Delivery, e.Hint = aai.DeliveryUnknown, "Press right there by ax_key_press and look before you type: typing would replace the selection."
		return &e
	}
	if *typed.hasInput || e.Delivery != aai.NotDelivered {
		return err
	}
	done := "nothing was typed"
	if now, gone := v.backend.Tree.Read(ctx, v.app, before.ID); unread == nil && gone == nil && now.Value == before.Value {
		done += ", and " + v.name(i) + " has its former value"
		if counts {
			*outer.hasInput = earlier
		}
	}
	e.Message = done + ": " + strings.Replace(e.Message, ", and nothing was done", "", 1)
	return &e
}
