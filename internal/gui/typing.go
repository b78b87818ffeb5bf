package gui

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// byTyping returns a technique that focuses the element and types.
func (v *view) byTyping(i int, text string, replace bool) technique {
	way := v.byTypingLate(i, replace, func(context.Context) (string, error) { return text, nil }, nil)
	do := way.do
	way.do = func(ctx context.Context) error {
		if err := v.tooLong(text); err != nil {
			return err
		}
		return do(ctx)
	}
	return way
}

// byTypingLate is byTyping of a text that is known only right before the strokes. Before each stroke it calls check, which
// may be nil.
func (v *view) byTypingLate(i int, replace bool, late func(context.Context) (string, error), check func(context.Context) error) technique {
	guarded := *v
	guarded.beforeStroke = check
	return guarded.byKeys(i, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		focus := v.moveFocus
		if takesKeys(&v.snapshot.Elements[i]) {
			focus = v.focusWithoutPress
		}
		if err := focus(ctx, i, input, seat, w); err != nil {
			return err
		}
		text, err := late(ctx)
		if err != nil {
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
	typed := trackedInput{input, new(bool), v.checkReach, nil}
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
