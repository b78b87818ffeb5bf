package ax

import (
	"context"
	"slices"
	"strings"

	"aai"
	"aai/internal/desktop"
)

// send presses what sends the form, if the call says so and all of it is filled.
func (f *filling) send(ctx context.Context, out *aai.Result, data *fillResult) (*aai.Result, error) {
	if !given(f.call, "submit") {
		return out, nil
	}
	if slices.ContainsFunc(f.rows, func(r filled) bool { return !r.Done }) {
		out.Text += "\nNot submitted."
		return out, nil
	}
	sent, err := f.press(ctx)
	if err != nil {
		e := *aai.AsError(err)
		e.Code, e.Delivery = aai.AutomationFailed, aai.Delivered
		e.Message = out.Text + " But not submitted: " + e.Message
		return nil, &e
	}
	if did, is := sent.Data.(deedResult); is {
		data.Submitted, data.Changes = did.Verified, append(data.Changes, did.Changes...)
	}
	out.Text += "\n" + sent.Text
	out.Warning = both(out.Warning, sent.Warning)
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
		a := deed{view: f.view, index: i, done: "Pressed return in", ways: []way{f.byReturn(i)}}
		return a.perform(ctx)
	}
	return f.clickOn(ctx, i, desktop.LeftButton, 1, !inFocus(f.call), "Clicked")
}

// typeAndSend types into the element and presses return in it. What that does is told, and
// not what was typed once more.
func (v *view) typeAndSend(ctx context.Context, i int) (*aai.Result, error) {
	if err := v.begin(ctx, i); err != nil {
		return nil, err
	}
	ref := v.ref(i)
	v.say(append(v.pressedBy(ctx, false, i, true), i)...)
	v.together = true
	_, err := v.typeInto(ctx, i)
	if v.together = false; err != nil {
		return nil, err
	}
	if err := v.refresh(ctx); err != nil {
		return nil, err
	}
	if i, err = v.refs.Resolve(v.shot, ref); err != nil {
		return nil, err
	}
	if v.pressesAnother(ctx, i) {
		v.said = nil
	} else {
		v.say(i)
	}
	a := deed{view: v, index: i, done: "Typed, and pressed return in", ways: []way{v.byReturn(i)}}
	return a.perform(ctx)
}

// say notes what was said that is acted upon, as it is now.
func (v *view) say(all ...int) {
	if v.said == nil {
		v.said = make(map[desktop.ID]string)
	}
	for _, i := range all {
		v.said[v.shot.Elements[i].ID] = strings.Join(v.readOn(i), "\n")
	}
}

// wasSaid reports whether it was said of the element that it is acted upon, and the same is
// to be read on it.
func (v *view) wasSaid(i int) bool {
	says, is := v.said[v.shot.Elements[i].ID]
	return is && says == strings.Join(v.readOn(i), "\n")
}

// pressesAnother reports whether return in the element presses by now what was not said: what
// was typed may have made it, or made it another thing.
func (v *view) pressesAnother(ctx context.Context, i int) bool {
	return slices.ContainsFunc(v.pressedBy(ctx, false, i, false), func(p int) bool { return !v.wasSaid(p) })
}

// byReturn is a way that presses return in an element.
func (v *view) byReturn(i int) way {
	return v.byInput(i, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		if err := v.giveKeyboard(ctx, i, input, seat, w); err != nil {
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
