package ax

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"aai"
	"aai/internal/ax/fault"
	"aai/internal/ax/operate"
	"aai/internal/ax/values"
	"aai/internal/ax/watch"
	"aai/internal/desktop"
)

func (v *view) setNumber(ctx context.Context, i int, text string) (*aai.Result, error) {
	e := &v.Shot.Elements[i]
	number := values.NumberOr(text, math.NaN())
	if text == "" && v.App.Browser && e.States.Has(desktop.Editable) {
		return v.setText(ctx, i, "")
	}
	if math.IsNaN(number) {
		return nil, aai.Errorf(aai.InvalidParams, "value: expected a number for %s", desktop.Describe(e))
	}
	if e.Min < e.Max && (number < e.Min || number > e.Max) {
		return nil, aai.Errorf(aai.InvalidParams, "value: expected a number from %v to %v for %s", e.Min, e.Max, desktop.Describe(e))
	}
	before, err := v.Read(ctx, e.ID)
	if err != nil {
		return nil, err
	}
	n := numbering{v, before, number, text}
	if n.is(before.Value) {
		return v.already(i), nil
	}
	plain := values.Plain(text)
	a := operate.Deed{View: v.View, Index: i, Done: "Set"}
	if e.Role == desktop.Spinbutton && e.States.Has(desktop.Editable) {
		a.Ways = append(a.Ways, n.taken(v.ByAsking(i, "its editable text", desktop.Act{Verb: desktop.SetText, Text: plain})))
	}
	if !e.States.Has(desktop.Editable) || values.Says(strconv.FormatFloat(number, 'f', -1, 64), text) { // what would be rounded is typed
		a.Ways = append(a.Ways, n.taken(v.ByAsking(i, "its value", desktop.Act{Verb: desktop.SetNumber, Number: number})))
	}
	switch {
	case e.Role == desktop.Scrollbar:
	case e.States.Has(desktop.Editable):
		a.Ways = append(a.Ways, n.byTyping(i, plain))
	default:
		a.Ways = append(a.Ways, n.byArrows(i))
	}
	a.Verify = func(ctx context.Context) (string, bool) {
		now, err := v.Backend.Tree.Read(ctx, v.App, before.ID)
		if err != nil {
			return "", false
		}
		if is := n.is(now.Value); is || n.mayBe(now.Value) {
			return "", is
		}
		if now.Value == "" {
			return fmt.Sprintf("it is empty now and not %s", plain), false
		}
		return fmt.Sprintf("it is now %s and not %s", aai.CleanLabel(now.Value, 40), plain), false
	}
	out, err := a.Perform(ctx)
	if e := aai.AsError(err); e != nil && e.Code == aai.AutomationFailed && e.Delivery == aai.Delivered && e.Undo == nil {
		return nil, n.between(ctx, err)
	}
	return out, err
}

// between returns the error of a slider that took another of its steps, because the number
// lies between two of them; of others the error that there was.
func (n numbering) between(ctx context.Context, failed error) error {
	now, err := n.Backend.Tree.Read(ctx, n.App, n.before.ID)
	at := values.NumberOr(now.Value, math.NaN())
	if err != nil || n.before.Role != desktop.Slider || math.IsNaN(at) || now.Value == n.before.Value {
		return failed
	}
	e := fault.Failed(aai.Delivered, "%s took %v in the place of %v, as one does that goes by steps", desktop.Describe(&n.before), at, n.number)
	aai.AsError(e).Hint = fmt.Sprintf("Set %v, or another of its steps.", at)
	return e
}

// A numbering is a number on its way into an element.
type numbering struct {
	*view
	before desktop.Element // as it was
	number float64
	text   string // as it was written
}

// is reports whether the text says the number. Where the element holds something new it may be
// told in 32 bits, as Chromium does.
func (n numbering) is(text string) bool {
	if values.Says(text, n.text) {
		return true
	}
	told := values.NumberOr(text, math.NaN())
	short := strconv.FormatFloat(told, 'g', -1, 32) == strconv.FormatFloat(told, 'g', -1, 64)
	return text != n.before.Value && short && float32(told) == float32(n.number)
}

// mayBe reports whether the number may be there though the text is what it was: the text of a
// field of Chromium may stay so after keys, and what is told beside it has 32 bits.
func (n numbering) mayBe(text string) bool {
	return n.App.Browser && text == n.before.Value && float32(values.NumberOr(text, math.NaN())) == float32(n.number)
}

// taken is the way, but one that cannot do it where the element holds what it held
// when it has had its time: some programs say yes and set nothing.
func (n numbering) taken(w operate.Way) operate.Way {
	do := w.Do
	w.Do = func(ctx context.Context) error {
		if err := do(ctx); err != nil {
			return err
		}
		if now, err := n.settles(ctx, n.before.Value, watch.LookAgain); err == nil && now.Value == n.before.Value {
			return &aai.Error{
				Code: aai.AutomationNotSupported, Delivery: aai.NotDelivered,
				Message: desktop.Describe(&n.before) + " does not take a number by " + w.Name,
			}
		}
		return nil // what came of it is judged in the end
	}
	return w
}

// settles waits until the element holds the number, or has held something other than was
// for the time, and returns it.
func (n numbering) settles(ctx context.Context, was string, stands time.Duration) (desktop.Element, error) {
	last, since := was, time.Now()
	var now desktop.Element
	_, err := n.Until(ctx, operate.EffectCeiling, func() (_ bool, err error) {
		if now, err = n.Backend.Tree.Read(ctx, n.App, n.before.ID); err != nil || n.is(now.Value) {
			return true, err
		}
		if now.Value != last {
			last, since = now.Value, time.Now()
		}
		return last != was && time.Since(since) >= stands, nil
	})
	return now, err
}

// byTyping is a way that types the number, and leaves the field where it is taken only
// then.
func (n numbering) byTyping(i int, text string) operate.Way {
	return n.ByKeys(i, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		if err := n.Enter(ctx, i, input, seat, w); err != nil {
			return err
		}
		err := n.Overwrite(ctx, i, input, seat, w, func(input desktop.Input) error { return input.Type(ctx, seat, w.ID, text) })
		if err != nil {
			return err
		}
		now, err := n.settles(ctx, n.before.Value, watch.LookAgain)
		if err == nil && !n.is(now.Value) {
			err = input.Key(ctx, seat, w.ID, desktop.Chord{Key: "tab"})
		}
		return err
	})
}

// maxSteps is how often an arrow is pressed at most.
const maxSteps = 400

// byArrows is a way that clicks where the number is on a slider, and goes the rest by
// the keys that raise and lower it.
func (n numbering) byArrows(i int) operate.Way {
	return n.ByKeys(i, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		if err := n.Reach(ctx, i, n.spot(i), input, seat, w); err != nil {
			return err
		}
		if now, err := n.settles(ctx, n.before.Value, watch.LookAgain); err != nil || n.is(now.Value) {
			return err
		}
		return n.steps(ctx, input, seat, w, 0)
	})
}

// steps presses the keys that raise and lower a number until it is there, or has come no
// nearer more often than setbacks, as when a digit that was typed before comes late.
func (n numbering) steps(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo, setbacks int) error {
	now, err := n.Backend.Tree.Read(ctx, n.App, n.before.ID)
	for range maxSteps {
		if err != nil || n.is(now.Value) {
			return err
		}
		at, empty := values.NumberOr(now.Value, n.before.Min), now.Value == ""
		key := "up"
		if at > n.number {
			key = "down"
		}
		if err := input.Key(ctx, seat, w.ID, desktop.Chord{Key: key}); err != nil {
			return err
		}
		now, err = n.settles(ctx, now.Value, 0)
		if next := values.NumberOr(now.Value, math.NaN()); (!empty || now.Value == "") && !(math.Abs(next-n.number) < math.Abs(at-n.number)) {
			if setbacks--; setbacks < 0 {
				return err // as near as it comes; what came of it is judged in the end
			}
		}
	}
	return err
}

// spot is where the number is on a slider; elsewhere the middle.
func (n numbering) spot(i int) desktop.Point {
	e := &n.Shot.Elements[i]
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
