package ax

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"aai"
	"aai/internal/desktop"
)

func (d *desk) typeTool() *aai.Tool {
	return spec{
		name: "ax_type", title: "Type text", types: true,
		returns:     deedReturns,
		description: "Type text into an element, or into what has the program's keyboard. Any Unicode; in a field of one line \\n is return and \\t tab.",
		params: appProp + `,` + queryProp + `,` + nthProp + `,
			"text": {"type": "string", "maxLength": 100000},
			"clear_first": {"type": "boolean", "default": false},
			"submit": {"type": "boolean", "default": false, "description": "Then press return"},` + modeProp,
		required: `["app", "text"]`, secret: []string{"text"},
		vain: d.missing,
		run:  func(ctx context.Context, call *aai.Call) (*aai.Result, error) { return d.look(ctx, call, typeText) },
	}.tool()
}

func typeText(ctx context.Context, v *view) (*aai.Result, error) {
	if v.blind {
		return v.typeBlind(ctx)
	}
	query := textArg(v.call, "query")
	var m match
	var err error
	if query == "" {
		m, err = v.focused()
	} else {
		m, err = v.toActOn(ctx, query)
	}
	if err != nil {
		return nil, err
	}
	if err := v.mayType(ctx, m.index); err != nil {
		return nil, err
	}
	if flagArg(v.call, "submit") {
		return v.typeAndSend(ctx, m.index)
	}
	return v.typeInto(ctx, m.index)
}

// typeInto types the call's text into the element.
func (v *view) typeInto(ctx context.Context, i int) (*aai.Result, error) {
	text, replace := textArg(v.call, "text"), flagArg(v.call, "clear_first")
	e := &v.shot.Elements[i]
	before, err := v.read(ctx, e.ID)
	if err != nil {
		return nil, err
	}
	a := deed{view: v, index: i, done: "Typed into"}
	act := desktop.Act{Verb: desktop.InsertText, Text: text}
	if replace {
		act.Verb = desktop.SetText
	}
	keys, lost := keysIn(e, text), v.app.Browser && e.States.Has(desktop.Multiline) && strings.Contains(text, "\t")
	if lost || !inFocus(v.call) && !keys {
		a.ways = append(a.ways, v.byAsking(i, "its editable text", act))
	}
	if !lost { // a page takes the key for one that leads out of the field
		a.ways = append(a.ways, v.byTyping(i, text, replace))
	}
	if !keys {
		a.verify = v.typed(i, before, text, replace)
	}
	return a.perform(ctx)
}

// keysIn reports whether there are keys in the text that are none of what the element holds:
// in a field of one line the end of a line is return, and a tab leads to the next field.
func keysIn(e *desktop.Element, text string) bool {
	one := e.Role == desktop.Textbox || e.Role == desktop.Searchbox || e.Role == desktop.Spinbutton || e.Role == desktop.Combobox
	return one && !e.States.Has(desktop.Multiline) && strings.ContainsAny(text, "\n\r\t")
}

// focused finds the element that has the program's keyboard.
func (v *view) focused() (match, error) {
	found := v.keyboardWithin(0, len(v.shot.Elements))
	if found < 0 {
		e := aai.Errorf(aai.ElementNotFound, "nothing in %s has its keyboard", aai.CleanLabel(v.app.Name, 60))
		e.Delivery = aai.NotDelivered
		e.Hint = "Say by query what to type into."
		return match{}, e
	}
	return match{found, "focused"}, nil
}

// keyboardWithin is which of these elements has the keyboard, or -1. A browser's hidden
// pages say that they have it too: what is in a page comes before another page, and a larger
// one before a smaller.
func (v *view) keyboardWithin(begin, end int) int {
	found, all := -1, v.shot.Elements
	for i := begin; i < end; i++ {
		e := &all[i]
		if !e.States.Has(desktop.Focused|desktop.Showing) || e.Role == desktop.Window || !v.shot.Visible(i) {
			continue
		}
		if other := found >= 0 && i >= all[found].End; other && e.Role == desktop.Document {
			was := &all[found]
			if was.Role != desktop.Document || was.Frame.W*was.Frame.H > e.Frame.W*e.Frame.H {
				continue
			}
		}
		found = i
	}
	return found
}

// byTyping is a way that gives the element its window's keyboard and types.
func (v *view) byTyping(i int, text string, replace bool) way {
	return v.byInput(i, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		if err := v.takeKeyboard(ctx, i, input, seat, w); err != nil {
			return err
		}
		if replace {
			if err := input.Key(ctx, seat, w.ID, desktop.Chord{Key: "a", Modifiers: []string{"ctrl"}}); err != nil {
				return err
			}
			if text == "" {
				return input.Key(ctx, seat, w.ID, desktop.Chord{Key: "delete"})
			}
		}
		return v.inPortions(ctx, v.shot.Elements[i].ID, text, func(part string) error { return input.Type(ctx, seat, w.ID, part) })
	})
}

const (
	// maxKeys is how many characters are typed by keys into a browser: it becomes slower with
	// each of them, and hangs or ends at some ten thousand that come at once.
	maxKeys = 5000
	// portion is how many are typed before they are looked for in the field.
	portion = 200
	// slowKeys is for how long a field that took some may stand still before the next come.
	slowKeys = 2 * time.Second
)

// inPortions types the text, into a browser the next part when the field holds the one
// before: typed at faster than it reads it falls behind, and never catches up. A field that
// shows nothing of what is typed gets the parts one after the other. Others are quickest
// with all at once: an editor draws a long line for each part that is waited for.
func (v *view) inPortions(ctx context.Context, id desktop.ID, text string, put func(string) error) error {
	if !v.app.Browser {
		return put(text)
	}
	left := []rune(text)
	if len(left) > maxKeys {
		return &aai.Error{
			Code: aai.InvalidParams, Delivery: aai.NotDelivered,
			Message: fmt.Sprintf("text: expected at most %d characters, which is what can be typed by keys; got %d", maxKeys, len(left)),
			Hint:    "Give it in parts, or write it to the clipboard with ax_clipboard and press v with ctrl.",
		}
	}
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
		if shows, err = v.grows(ctx, before, len(part), held); err != nil {
			return err
		}
	}
}

// typedOnly is the error of a text of which only the beginning was typed.
func typedOnly(err error, typed, all int) error {
	if err == nil || typed == 0 {
		return err
	}
	e := *aai.AsError(err)
	e.Message = fmt.Sprintf("after %d of %d characters: %s", typed, all, e.Message)
	e.Delivery, e.Hint = aai.DeliveryUnknown, "Look at what the field holds before you try again."
	return &e
}

// grows waits until the field holds so many more, or no more of them come, and reports
// whether any have.
func (v *view) grows(ctx context.Context, before, by int, held func() (int, error)) (bool, error) {
	last := before
	for still := time.Now(); time.Since(still) < slowKeys; {
		now, err := held()
		if err != nil || now >= before+by {
			return true, err
		}
		if now != last {
			last, still = now, time.Now()
		}
		select {
		case <-time.After(lookAgain / 10):
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
	return last != before, nil
}

// takeKeyboard makes the element the one in its window that keys go to. In the
// background it is asked to act, because taking the focus raises the window in
// some toolkits.
func (v *view) takeKeyboard(ctx context.Context, i int, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
	e := &v.shot.Elements[i]
	if !takesText(e) {
		return &aai.Error{
			Code: aai.InvalidParams, Delivery: aai.NotDelivered, Message: "query: " + v.name(i) + " takes no text",
			Hint: "Say by query what to type into; ax_click presses it.",
		}
	}
	if e.States.Has(desktop.Focused) {
		return nil
	}
	if seat == desktop.PersonSeat {
		at, err := v.point(i, w)
		if err != nil {
			return err
		}
		return input.Click(ctx, seat, w.ID, at, desktop.LeftButton, 1)
	}
	if v.backend.Actor == nil {
		return unsupported("actions on elements")
	}
	act := desktop.Act{Verb: desktop.Press}
	if sheetCell(e) {
		act.Verb = desktop.TakeFocus
	}
	if err := v.backend.Actor.Perform(ctx, v.app, e.ID, act); err != nil {
		return err
	}
	if focused, err := v.becomesFocused(ctx, e.ID); focused || err != nil {
		return err
	}
	return &aai.Error{
		Code: aai.AutomationNotSupported, Delivery: aai.NotDelivered,
		Message: v.name(i) + " does not take the keyboard in the background",
	}
}

// becomesFocused waits until the element has its window's keyboard: programs
// answer before they have given it.
func (v *view) becomesFocused(ctx context.Context, id desktop.ID) (bool, error) {
	for until := time.Now().Add(effectCeiling); ; {
		now, err := v.backend.Tree.Read(ctx, v.app, id)
		if err != nil || now.States.Has(desktop.Focused) || time.Now().After(until) {
			return err == nil && now.States.Has(desktop.Focused), err
		}
		select {
		case <-time.After(lookAgain / 10):
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// takesText reports whether text can be typed into the element. To press another,
// as one does to give it the keyboard, would do something else.
func takesText(e *desktop.Element) bool {
	switch e.Role {
	case desktop.Textbox, desktop.Searchbox, desktop.Spinbutton, desktop.Terminal, desktop.Document, desktop.Canvas:
		return true
	}
	return e.States.Has(desktop.Editable)
}

// typed checks by reading back that the text has arrived.
func (v *view) typed(i int, before desktop.Element, text string, replace bool) func(context.Context) (string, bool) {
	if sheetCell(&v.shot.Elements[i]) {
		return v.typedCell(i, before, text)
	}
	id := v.shot.Elements[i].ID
	return func(ctx context.Context) (string, bool) {
		if before.States.Has(desktop.Protected) {
			return "", false
		}
		now, err := v.backend.Tree.Read(ctx, v.app, id)
		if err != nil {
			return "", false
		}
		want := normalized(text)
		switch got := normalized(now.Value); {
		case replace && got == want:
			return "", true
		case !replace && got != normalized(before.Value) && strings.Contains(got, want):
			return "", true
		case !replace && text == "":
			return "", true
		case now.States.Has(desktop.Editable):
			const short = 60 // what repeats more of the text is withheld with all that is said
			if n := utf8.RuneCountInString(now.Value); n > short {
				return fmt.Sprintf("it now holds other text, of %d characters", n), false
			}
			return fmt.Sprintf("it now holds %q", aai.CleanLabel(now.Value, 100)), false
		}
		return "", false
	}
}

// normalized is a text as different toolkits give it back: line ends differ, and
// rich text ends with one of its own.
func normalized(s string) string {
	return strings.TrimSuffix(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
}
