package ax

import (
	"context"
	"slices"

	"aai"
	"aai/internal/ax/asked"
	"aai/internal/ax/fault"
	"aai/internal/ax/operate"
	"aai/internal/desktop"
)

// send presses what sends the form, if the call says so and all of it is filled.
func (f *filling) send(ctx context.Context, out *aai.Result, data *fillResult) (*aai.Result, error) {
	if !asked.Given(f.Call, "submit") {
		return out, nil
	}
	if slices.ContainsFunc(f.rows, func(r filled) bool { return !r.Done }) {
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
	out.Undo, out.Idle = nil, false // what was sent is sent
	if did, is := sent.Data.(operate.DeedResult); is {
		data.Submitted, data.Changes = did.Verified, append(data.Changes, did.Changes...)
	}
	out.Text += "\n" + sent.Text
	out.Warning = fault.Warnings(out.Warning, sent.Warning)
	return out, nil
}

// press presses the button, or return in the last field.
func (f *filling) press(ctx context.Context) (*aai.Result, error) {
	if err := f.next(ctx); err != nil {
		return nil, err
	}
	with, last := &f.submit, &f.fields[len(f.fields)-1]
	if with.query == "" {
		with = last
	}
	i, err := f.again(ctx, with)
	if err != nil {
		return nil, err
	}
	if with == last {
		if f.pressesAnother(ctx, i) {
			if err := f.beginAll(ctx); err != nil {
				return nil, err
			}
		}
		a := operate.Deed{View: f.View, Index: i, Done: "Pressed return in", Ways: []operate.Way{f.byReturn(i)}}
		return a.Perform(ctx)
	}
	return f.clickOn(ctx, i, desktop.LeftButton, 1, !asked.InFocus(f.Call), "Clicked")
}

// typeAndSend types into the element and presses return in it. What that does is told, and
// not what was typed once more.
func (v *view) typeAndSend(ctx context.Context, i int) (*aai.Result, error) {
	if err := v.Begin(ctx, i); err != nil {
		return nil, err
	}
	ref := v.Ref(i)
	v.Say(append(v.PressedBy(ctx, false, i, true), i)...)
	v.Together = true
	typed, err := v.typeInto(ctx, i)
	if v.Together = false; err != nil {
		return nil, err
	}
	out, err := v.sendFrom(ctx, ref)
	if err != nil {
		e := *aai.AsError(err)
		e.Code, e.Delivery, e.Undo = aai.AutomationFailed, aai.Delivered, typed.Undo
		e.Message = "the text was typed, but return was not pressed: " + e.Message
		return nil, &e
	}
	return out, nil
}

// sendFrom presses return in the element of the reference.
func (v *view) sendFrom(ctx context.Context, ref string) (*aai.Result, error) {
	if err := v.Refresh(ctx); err != nil {
		return nil, err
	}
	i, err := v.Refs.Resolve(v.Shot, ref)
	if err != nil {
		return nil, err
	}
	if v.pressesAnother(ctx, i) {
		v.Said = nil
	} else {
		v.Say(i)
	}
	a := operate.Deed{View: v.View, Index: i, Done: "Typed, and pressed return in", Ways: []operate.Way{v.byReturn(i)}}
	return a.Perform(ctx)
}

// pressesAnother reports whether return in the element presses by now what was not said: what
// was typed may have made it, or made it another thing.
func (v *view) pressesAnother(ctx context.Context, i int) bool {
	return slices.ContainsFunc(v.PressedBy(ctx, false, i, false), func(p int) bool { return !v.WasSaid(p) })
}

// byReturn is a way that presses return in an element.
func (v *view) byReturn(i int) operate.Way {
	return v.ByInput(i, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		if err := v.GiveKeyboard(ctx, i, input, seat, w); err != nil {
			return err
		}
		return input.Key(ctx, seat, w.ID, desktop.Chord{Key: "return"})
	})
}

// inSubmit is the error of what is to be pressed in the end.
func inSubmit(err error) error {
	e := *aai.AsError(err)
	e.Message = "submit: " + e.Message
	return &e
}
