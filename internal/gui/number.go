package gui

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
	"github.com/gybob/aai-gateway/internal/gui/watch"
)

func (v *view) setNumber(ctx context.Context, i int, text string) (*aai.Result, error) {
	e := &v.snapshot.Elements[i]
	number := fieldtext.ParseNumber(text, math.NaN())
	if text == "" && v.app.IsBrowser && e.States.Has(desktop.Editable) {
		return v.setText(ctx, i, "")
	}
	if math.IsNaN(number) {
		return nil, aai.Errorf(aai.InvalidParams, "value: expected a number for %s", desktop.Describe(e))
	}
	if e.Min < e.Max && (number < e.Min || number > e.Max) {
		return nil, aai.Errorf(aai.InvalidParams, "value: expected a number from %v to %v for %s", e.Min, e.Max, desktop.Describe(e))
	}
	before, err := v.read(ctx, e.ID)
	if err != nil {
		return nil, err
	}
	n := numberEdit{v, before, number, text}
	if n.matches(before.Value) {
		return v.alreadySetResult(i), nil
	}
	plain := fieldtext.PlainDigits(text)
	a := action{view: v, index: i, doneText: "Set"}
	if e.Role == desktop.Spinbutton && e.States.Has(desktop.Editable) {
		a.techniques = append(a.techniques, n.withVerification(v.byAccessibility(i, "its editable text", desktop.Act{Verb: desktop.SetText, Text: plain})))
	}
	if !e.States.Has(desktop.Editable) || fieldtext.IsSameWrittenNumber(strconv.FormatFloat(number, 'f', -1, 64), text) { // a number that would be rounded is typed instead
		a.techniques = append(a.techniques, n.withVerification(v.byAccessibility(i, "its value", desktop.Act{Verb: desktop.SetNumber, Number: number})))
	}
	switch {
	case e.Role == desktop.Scrollbar:
	case e.States.Has(desktop.Editable):
		a.techniques = append(a.techniques, n.byTyping(i, plain))
	default:
		a.techniques = append(a.techniques, n.byArrows(i))
	}
	a.verify = func(ctx context.Context) (string, bool) {
		now, err := v.backend.Tree.Read(ctx, v.app, before.ID)
		if err != nil {
			return "", false
		}
		if is := n.matches(now.Value); is || n.mayMatch(now.Value) {
			return "", is
		}
		if now.Value == "" {
			return fmt.Sprintf("it is empty now and not %s", plain), false
		}
		return fmt.Sprintf("it is now %s and not %s", aai.CleanLabel(now.Value, 40), plain), false
	}
	out, err := a.execute(ctx)
	if e := aai.AsError(err); e != nil && e.Code == aai.AutomationFailed && e.Delivery == aai.Delivered && e.Undo == nil {
		return nil, n.between(ctx, err)
	}
	return out, err
}

// between returns the error for a slider that took a nearby step because the number is between two
// steps; otherwise failed.
func (n numberEdit) between(ctx context.Context, failed error) error {
	now, err := n.backend.Tree.Read(ctx, n.app, n.before.ID)
	at := fieldtext.ParseNumber(now.Value, math.NaN())
	if err != nil || n.before.Role != desktop.Slider || math.IsNaN(at) || now.Value == n.before.Value {
		return failed
	}
	e := guierr.Failed(aai.Delivered, "%s took %v instead of %v: it goes by steps", desktop.Describe(&n.before), at, n.number)
	aai.AsError(e).Hint = fmt.Sprintf("Set %v, or another of its steps.", at)
	return e
}

// numberEdit is the change of an element's number.
type numberEdit struct {
	*view
	before desktop.Element // before the change
	number float64
	text   string // as the caller wrote it
}

// matches reports whether the text is the number. A new value may be reported in 32 bits, as in
// Chromium.
func (n numberEdit) matches(text string) bool {
	if fieldtext.IsSameWrittenNumber(text, n.text) {
		return true
	}
	told := fieldtext.ParseNumber(text, math.NaN())
	short := strconv.FormatFloat(told, 'g', -1, 32) == strconv.FormatFloat(told, 'g', -1, 64)
	return text != n.before.Value && short && float32(told) == float32(n.number)
}

// mayMatch reports whether the number may be set although the text is unchanged. Chromium may keep
// a field's old text after keys, and reports its number in 32 bits.
func (n numberEdit) mayMatch(text string) bool {
	return n.app.IsBrowser && text == n.before.Value && float32(fieldtext.ParseNumber(text, math.NaN())) == float32(n.number)
}

// withVerification wraps a technique so that it fails as unsupported if the element keeps its old
// value: some programs report success and set nothing.
func (n numberEdit) withVerification(w technique) technique {
	do := w.do
	w.do = func(ctx context.Context) error {
		if err := do(ctx); err != nil {
			return err
		}
		if now, err := n.awaitValue(ctx, n.before.Value, watch.PollInterval); err == nil && now.Value == n.before.Value {
			return &aai.Error{
				Code: aai.AutomationNotSupported, Delivery: aai.NotDelivered,
				Message: desktop.Describe(&n.before) + " does not take a number by " + w.name,
			}
		}
		return nil // verify judges the effect later
	}
	return w
}

// awaitValue waits until the element has the number, or a value other than was for the time stands,
// and returns it.
func (n numberEdit) awaitValue(ctx context.Context, was string, stands time.Duration) (desktop.Element, error) {
	last, since := was, time.Now()
	var now desktop.Element
	_, err := n.pollUntil(ctx, effectCeiling, func() (_ bool, err error) {
		if now, err = n.backend.Tree.Read(ctx, n.app, n.before.ID); err != nil || n.matches(now.Value) {
			return true, err
		}
		if now.Value != last {
			last, since = now.Value, time.Now()
		}
		return last != was && time.Since(since) >= stands, nil
	})
	return now, err
}

// byTyping returns a technique that types the number, and leaves the field if it takes the number
// only then.
func (n numberEdit) byTyping(i int, text string) technique {
	return n.byKeys(i, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		if err := n.focusOrClick(ctx, i, input, seat, w); err != nil {
			return err
		}
		err := n.overwrite(ctx, i, input, seat, w, func(input desktop.Input) error { return input.Type(ctx, seat, w.ID, text) })
		if err != nil {
			return err
		}
		now, err := n.awaitValue(ctx, n.before.Value, watch.PollInterval)
		if err == nil && !n.matches(now.Value) {
			err = input.Key(ctx, seat, w.ID, desktop.Chord{Key: "tab"})
		}
		return err
	})
}

// maxSteps limits how often an arrow key is pressed.
const maxSteps = 400

// byArrows returns a technique that clicks the number's point on a slider, and steps the rest by
// arrow keys.
func (n numberEdit) byArrows(i int) technique {
	return n.byKeys(i, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		if err := n.clickOrTabTo(ctx, i, n.sliderPoint(i), input, seat, w); err != nil {
			return err
		}
		if now, err := n.awaitValue(ctx, n.before.Value, watch.PollInterval); err != nil || n.matches(now.Value) {
			return err
		}
		return n.steps(ctx, input, seat, w, 0)
	})
}

// steps presses up or down until the number is reached, or the keys made no progress more often
// than setbacks. That happens if a typed digit takes effect late.
func (n numberEdit) steps(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo, setbacks int) error {
	now, err := n.backend.Tree.Read(ctx, n.app, n.before.ID)
	for range maxSteps {
		if err != nil || n.matches(now.Value) {
			return err
		}
		at, empty := fieldtext.ParseNumber(now.Value, n.before.Min), now.Value == ""
		key := "up"
		if at > n.number {
			key = "down"
		}
		if err := input.Key(ctx, seat, w.ID, desktop.Chord{Key: key}); err != nil {
			return err
		}
		now, err = n.awaitValue(ctx, now.Value, 0)
		if next := fieldtext.ParseNumber(now.Value, math.NaN()); (!empty || now.Value == "") && !(math.Abs(next-n.number) < math.Abs(at-n.number)) {
			if setbacks--; setbacks < 0 {
				return err // the nearest step; verify judges the effect later
			}
		}
	}
	return err
}

// sliderPoint returns the number's point on a slider; for others the center.
func (n numberEdit) sliderPoint(i int) desktop.Point {
	e := &n.snapshot.Elements[i]
	at := e.Frame.Center()
	if e.Role != desktop.Slider || e.Max <= e.Min {
		return at
	}
	part := (n.number - e.Min) / (e.Max - e.Min)
	if e.States.Has(desktop.Vertical) {
		at.Y = e.Frame.Y + int((1-part)*float64(e.Frame.H-1))
	} else {
		at.X = e.Frame.X + int(part*float64(e.Frame.W-1))
	}
	return at
}
