package gui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
	"github.com/gybob/aai-gateway/internal/gui/params"
)

// submitForm submits the form, if the call asks for that and all fields are filled.
func (f *formFill) submitForm(ctx context.Context, out *aai.Result, data *fillResult) (*aai.Result, error) {
	if !params.Has(f.call, "submit") {
		return out, nil
	}
	if slices.ContainsFunc(f.rows, func(r fieldOutcome) bool { return !r.Done || r.gone }) {
		out.Text += "\nNot submitted."
		return out, nil
	}
	sent, err := f.press(ctx)
	if err != nil {
		e := *aai.AsError(err)
		e.Code, e.Delivery, e.Undo = aai.AutomationFailed, aai.Delivered, out.Undo
		e.Message = out.Text + " But not submitted: " + e.Message
		return nil, &e
	}
	out.Undo, out.NoOp = nil, false // a submitted form has no undo
	if did, is := sent.Data.(actionResult); is {
		data.Submitted, data.Changes, data.ForeignWindows = did.Verified, append(data.Changes, did.Changes...), append(data.ForeignWindows, did.ForeignWindows...)
	}
	out.Text += "\n" + sent.Text
	out.Warning = guierr.JoinWarnings(out.Warning, sent.Warning)
	return out, nil
}

// press presses the button, or return in the last field.
func (f *formFill) press(ctx context.Context) (*aai.Result, error) {
	if err := f.next(ctx); err != nil {
		return nil, err
	}
	with, last := &f.submit, &f.fields[len(f.fields)-1]
	if with.query == "" {
		with = last
	}
	i, err := f.refindField(ctx, with)
	if err != nil {
		return nil, err
	}
	if with == last {
		if f.pressesAnother(ctx, i) {
			if err := f.announceAll(ctx); err != nil {
				return nil, err
			}
		}
		a := action{view: f.view, index: i, doneText: "Pressed return in", techniques: []technique{f.byReturn(i)}}
		return a.execute(ctx)
	}
	return f.clickOn(ctx, i, desktop.LeftButton, 1, !params.TakesFocus(f.call), "Clicked")
}

// typeLines types the lines of a text into a single-line field, with return after each line end. It
// judges the target of each return after its line, which may have changed it. The next line goes to
// the focused element.
func (v *view) typeLines(ctx context.Context, i int, text string, replace bool) (*aai.Result, error) {
	if params.Bool(v.call, "submit") {
		text += "\n"
	}
	var told []string
	for rest := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text); ; {
		line, after, sends := strings.Cut(rest, "\n")
		do := v.typeAndSend
		if !sends {
			do = v.typeInto
		}
		out, err := do(ctx, i, line, replace)
		if err != nil {
			return nil, afterLines(err, len(told))
		}
		told = append(told, out.Text)
		if rest = after; rest == "" {
			out.Text = strings.Join(told, "\n")
			return out, nil
		}
		if i, err = v.nextLine(ctx); err != nil {
			return nil, afterLines(err, len(told))
		}
		replace = false
	}
}

// nextLine returns the element for the line after a return.
func (v *view) nextLine(ctx context.Context) (int, error) {
	v.announced = nil
	if err := v.refresh(ctx); err != nil {
		return -1, err
	}
	m, err := v.focused()
	if err != nil {
		return -1, err
	}
	return m.index, v.mayType(ctx, m.index)
}

// afterLines adds to an error that some lines were sent before.
func afterLines(err error, sent int) error {
	if sent == 0 {
		return err
	}
	e := *aai.AsError(err)
	e.Code, e.Delivery = aai.AutomationFailed, aai.Delivered
	e.Message = fmt.Sprintf("%s typed and sent, and the next one only in part: %s", aai.Count(sent, "line"), e.Message)
	return &e
}

// typeAndSend types into the element and presses return in it, or in the element that a tab in the
// text leads to. It reports the changes of the return only, but foreign windows of both.
func (v *view) typeAndSend(ctx context.Context, i int, text string, replace bool) (*aai.Result, error) {
	if err := v.announce(ctx, i); err != nil {
		return nil, err
	}
	v.guardKeyboardForAll(ctx)
	did := "Typed into " + v.name(i)
	out, err := v.typeThenSend(ctx, i, text, replace)
	if err != nil && aai.AsError(err).Delivery != aai.NotDelivered {
		return nil, withForeignWindows(err, v.app, v.keyboardGuard.newForeignWindows(ctx, did))
	}
	return out, err
}

func (v *view) typeThenSend(ctx context.Context, i int, text string, replace bool) (*aai.Result, error) {
	ref := v.ref(i)
	v.markAnnounced(append(v.pressedBy(ctx, false, i, true), i)...)
	var undo *aai.Undo
	shown := false
	if text != "" || replace {
		v.batched = true
		typed, err := v.typeInto(ctx, i, text, replace)
		if v.batched = false; err != nil {
			return nil, err
		}
		undo = typed.Undo
		did, is := typed.Data.(actionResult)
		shown = is && did.Verified
	}
	out, err := v.sendFrom(ctx, ref, strings.Contains(text, "\t"))
	if err != nil {
		e := *aai.AsError(err)
		e.Code, e.Delivery, e.Undo = aai.AutomationFailed, aai.Delivered, undo
		e.Message = "the text was typed, but return was not pressed: " + e.Message
		return nil, &e
	}
	if after, nothing := strings.CutPrefix(out.Warning, "delivered, but nothing was seen to change"); nothing && shown {
		out.Warning = "the text is there, but nothing was seen to change after the return" + after
	}
	if i, err := v.refs.Resolve(v.snapshot, ref); shown && err == nil && !strings.Contains(v.snapshot.Elements[i].Value, text) && showsOther(&v.snapshot.Elements[i], text) {
		out.Text += fmt.Sprintf("\nThe typed text was not kept: %s has %q.", v.name(i), aai.CleanText(v.shown(i), 100))
	}
	return out, nil
}

// sendFrom presses return in the element with the ref, or in the focused element if the text left
// it.
func (v *view) sendFrom(ctx context.Context, ref string, left bool) (*aai.Result, error) {
	if err := v.refresh(ctx); err != nil {
		return nil, err
	}
	i, err := v.refs.Resolve(v.snapshot, ref)
	if left {
		var m match
		if m, err = v.focused(); err == nil {
			i, err = m.index, v.mayType(ctx, m.index)
		}
	}
	if err != nil {
		return nil, err
	}
	if v.pressesAnother(ctx, i) {
		v.announced = nil
	} else {
		v.markAnnounced(i)
	}
	a := action{view: v, index: i, doneText: "Typed, and pressed return in", techniques: []technique{v.byReturn(i)}}
	return a.execute(ctx)
}

// pressesAnother reports whether return in the element now presses an unannounced element: the
// typed text may have created or changed it.
func (v *view) pressesAnother(ctx context.Context, i int) bool {
	return slices.ContainsFunc(v.pressedBy(ctx, false, i, false), func(p int) bool { return !v.wasAnnounced(p) })
}

// byReturn returns a technique that presses return in an element.
func (v *view) byReturn(i int) technique {
	return v.byKeys(i, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		if err := v.focusWithoutPress(ctx, i, input, seat, w); err != nil {
			return err
		}
		return input.Key(ctx, seat, w.ID, desktop.Chord{Key: "return"})
	})
}

// inSubmit marks an error as one of the submit parameter.
func inSubmit(err error) error {
	e := *aai.AsError(err)
	e.Message = "submit: " + e.Message
	return &e
}
