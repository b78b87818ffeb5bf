package gui

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
	"github.com/gybob/aai-gateway/internal/gui/params"
	"github.com/gybob/aai-gateway/internal/gui/programs"
)

// focusCheckedInput is keyboard input for one element. Before each stroke, while the window owns
// the keyboard, it checks that no other element of the window reads FOCUSED. A browser in the
// background reports a page field as FOCUSED although keys go to its address bar.
type focusCheckedInput struct {
	desktop.Input
	view       *view      // each check replaces its snapshot
	target     func() int // index of the element in that snapshot; -1 if there is none
	named      bool       // the call names an element
	focusMoved *bool      // the focus was moved to the target, or a menu was open, and no key has been seen to arrive yet
}

// withFocusCheck wraps do so that its keys must reach the element with index i (-1: the element with the focus of the
// window). Keys for a spreadsheet cell are not checked. They go to the cursor that enterCell has set, although an
// editor beside the cell has the focus.
func (v *view) withFocusCheck(i int, do inputFunc) inputFunc {
	if v.noTree || i >= 0 && !v.app.IsBrowser && fieldtext.IsSheetCell(&v.snapshot.Elements[i]) {
		return do
	}
	return func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		now := *v
		l := focusCheckedInput{Input: input, view: &now, named: params.Has(v.call, "query") || params.Has(v.call, "fields"), focusMoved: new(v.isMenuOpen())}
		if l.target = func() int { return -1 }; i >= 0 && (l.named || !v.app.IsBrowser) {
			l.target = now.trackElement(i)
		}
		return do(ctx, l, seat, w)
	}
}

// withoutFocusCheck returns the input without the focus check, for keys that lead to the element.
func withoutFocusCheck(input desktop.Input) desktop.Input {
	if l, is := input.(focusCheckedInput); is {
		return l.Input
	}
	return input
}

// Key implements desktop.Keyboard.
func (l focusCheckedInput) Key(ctx context.Context, seat desktop.Seat, w desktop.WindowID, chord desktop.Chord) error {
	return l.WithKeyboard(ctx, seat, w, func(ctx context.Context, input desktop.Input) error {
		if err := l.check(ctx, seat, false); err != nil {
			return err
		}
		i, press := l.target(), func() error { return input.Key(ctx, seat, w, chord) }
		if !*l.focusMoved || i < 0 || len(chord.Modifiers) > 0 || utf8.RuneCountInString(chord.Key) != 1 || !l.view.snapshot.Elements[i].States.Has(desktop.Editable) {
			return press()
		}
		seen, err := l.awaitTyped(ctx, i, wrongCeiling, press)
		if err == nil && !seen {
			err = guierr.Failed(aai.DeliveryUnknown, "the key was pressed, and %s was not seen to receive it", l.view.name(i))
		}
		return err
	})
}

// Type implements desktop.Keyboard. The text is typed in strokes with a check before each of them. If the
// focus had to be moved, the first character is typed alone, and the rest only after the target
// was seen to receive it. A password is typed by single characters, each seen to arrive, unless
// the program reports none of them: so at most one character of it reaches another field. In a page
// the first words are single strokes, see awaitWord.
func (l focusCheckedInput) Type(ctx context.Context, seat desktop.Seat, w desktop.WindowID, text string) error {
	return l.WithKeyboard(ctx, seat, w, func(ctx context.Context, input desktop.Input) error {
		all, awaited, most, windows := utf8.RuneCountInString(text), false, firstStroke, l.view.topLevels()
		for typed, words := 0, 0; text != ""; words++ {
			if err := l.awaitKeys(ctx, typed, windows); err != nil {
				return partlyTypedError(err, typed, all)
			}
			err := l.check(ctx, seat, true)
			if err == nil && l.view.beforeStroke != nil {
				err = l.view.beforeStroke(ctx)
			}
			if err != nil {
				return partlyTypedError(err, typed, all)
			}
			i := l.target()
			editable := i >= 0 && l.view.snapshot.Elements[i].States.Has(desktop.Editable)
			secret := editable && l.view.snapshot.Elements[i].States.Has(desktop.Protected)
			switch {
			case secret || editable && *l.focusMoved, i >= 0 && takesKeys(&l.view.snapshot.Elements[i]):
				most = 1
			case !l.view.app.IsBrowser: // an editor draws a long line anew for each check
				most = all
			}
			one := i < 0 || !l.view.snapshot.Elements[i].States.Has(desktop.Multiline)
			size := strokeOf(text, most, one)
			wait := time.Duration(0)
			switch {
			case editable && *l.focusMoved, secret && awaited:
				wait = wrongCeiling
			case secret && typed == 0:
				wait = effectCeiling
			}
			awaits := l.awaitTyped
			if wait == 0 && editable && words < wordStrokes && l.view.keepsItsObject(i) {
				size, awaits = min(size, wordEnd(text)), l.awaitWord(text[:min(size, wordEnd(text))])
			}
			seen, err := awaits(ctx, i, wait, func() error { return input.Type(ctx, seat, w, text[:size]) })
			if err == nil && wait == wrongCeiling && !seen {
				err = guierr.Failed(aai.DeliveryUnknown, "one character was typed, and %s was not seen to receive it; the rest was not typed", l.view.name(i))
			}
			if err != nil {
				return partlyTypedError(err, typed, all)
			}
			*l.focusMoved = *l.focusMoved && !seen
			awaited = awaited || secret && seen
			if one && (text[0] == '\t' || text[0] == '\n') && (i < 0 || !takesKeys(&l.view.snapshot.Elements[i])) { // it may have moved the focus, and the rest follows it
				l.named, l.target = false, func() int { return -1 }
			}
			typed, text = typed+utf8.RuneCountInString(text[:size]), text[size:]
			if words >= wordStrokes || l.view.document(max(i, 0)) < 0 {
				most = max(firstStroke, 2*most)
			}
		}
		return nil
	})
}

// firstStroke is the number of characters that are typed between the first two checks of the
// focus. Each further stroke is twice as long.
const firstStroke = 25

// strokeOf returns the length in bytes of the first stroke of the text, of at most the given number of
// characters. If tab and return may move the focus or press a button (leaves), each is a stroke of its own.
func strokeOf(text string, most int, leaves bool) int {
	n := 0
	leaving := func(r byte) bool { return leaves && (r == '\t' || r == '\n') }
	for at := range text {
		if at > 0 && (n == most || leaving(text[at]) || leaving(text[at-1])) {
			return at
		}
		n++
	}
	return len(text)
}

// partlyTypedError is the error of a text of which the first characters were typed.
func partlyTypedError(err error, typed, all int) error {
	if typed == 0 {
		return err
	}
	e := *aai.AsError(err)
	e.Message = fmt.Sprintf("after %d of %d characters: %s", typed, all, strings.Replace(e.Message, "; nothing was typed", "; the rest was not typed", 1))
	e.Delivery, e.Hint = aai.DeliveryUnknown, "Read the fields of the window before you try again."
	return &e
}

// check returns an error unless keys would go to the target. It first moves the focus there from
// another element, which only works while the window has the keyboard.
func (l focusCheckedInput) check(ctx context.Context, seat desktop.Seat, text bool) error {
	rival, has, active, err := l.awaitFocus(ctx, effectCeiling)
	if err != nil || has && active && rival < 0 {
		return err
	}
	v, i := l.view, l.target()
	switch {
	case !l.named && v.app.IsBrowser:
		if rival >= 0 && (text || v.formOrDialogOf(rival) < 0) { // a key may answer a question of the page, which the gates have judged
			return v.browserFrameError(rival)
		}
		return nil
	case i < 0:
		return nil
	}
	// Only the person may allow that the window is raised.
	if raises := seat == desktop.OwnSeat && v.app.RaisesOnFocus; v.backend.Actor != nil && !raises {
		act := desktop.Act{Verb: desktop.TakeFocus, Name: v.snapshot.Elements[i].Name}
		if v.backend.Actor.Execute(ctx, v.app, v.snapshot.Elements[i].ID, act) == nil {
			*l.focusMoved = true
			if rival, has, _, err = l.awaitFocus(ctx, wrongCeiling); err != nil || has && rival < 0 {
				return err
			}
		}
	}
	return l.wrongFocusError(rival)
}

// awaitFocus reads the window's focus until only the target has it, or until the time is over. It
// returns a rival element that has the focus (or -1), whether the target has it, and whether the
// window is active. For other programs than browsers, the last two are always true.
func (l focusCheckedInput) awaitFocus(ctx context.Context, within time.Duration) (rival int, has, active bool, err error) {
	v := l.view
	_, err = v.pollUntil(ctx, within, func() (bool, error) {
		if err := v.refresh(ctx); err != nil {
			return false, err
		}
		i := l.target()
		if i < 0 && l.named && v.app.IsBrowser {
			return false, guierr.Failed(aai.NotDelivered, "the target element of the keys is gone")
		}
		rival, has, active = v.focus(i, l.named)
		// In the window with the keyboard, a browser's report is final until the focus moves.
		return has && rival < 0 && (active || *l.focusMoved) || v.app.IsBrowser && active && !*l.focusMoved, nil
	})
	return rival, has, active, err
}

// focus returns an element that reads FOCUSED in the target's window and is no ancestor, descendant
// or the target itself, or -1. It also reports whether the target reads FOCUSED and the window is
// active. Pages always read FOCUSED, even hidden ones, so focus ignores them. An open menu takes
// the keys of every window. Without a target, only a browser's own frame is a rival.
func (v *view) focus(target int, named bool) (rival int, has, active bool) {
	rival = -1
	if !named && !v.app.IsBrowser {
		return -1, true, true
	}
	top, all := -1, v.snapshot.Elements
	if target >= 0 {
		top = v.snapshot.WindowOf(target)
	}
	for i := range all {
		e, within := &all[i], v.snapshot.WindowOf(i)
		if top < 0 && all[within].States.Has(desktop.Active) {
			top = within
		}
		open := e.Role.IsMenuItem() && e.Parent >= 0 && all[e.Parent].Role == desktop.Menu
		popup := named && within != top && e.Role == desktop.Menu && e.Parent >= 0 && all[e.Parent].Role != desktop.Menubar && e.End > i+1
		related := target >= 0 && (i >= target && i < all[target].End || i <= target && target < e.End)
		switch {
		case popup && !related && v.snapshot.IsVisible(i):
			rival = i
		case within != top && !open, !e.States.Has(desktop.Focused), e.Role == desktop.Window, !v.snapshot.IsVisible(i), v.app.IsBrowser && e.Frame.Empty(), v.isRemembered(i):
		case related:
			has = has || i >= target || !v.isPage(i)
		case v.isPage(i), e.Role == desktop.Generic && (target < 0 || !takesKeys(&all[target])):
		case named || v.document(i) < 0:
			rival = i
		}
	}
	active = top >= 0 && all[top].States.Has(desktop.Active)
	return rival, has || !named || !v.app.IsBrowser, active || !v.app.IsBrowser
}

// isMenuOpen reports whether a menu of the program, not of a page, is open. It takes keys until it has closed,
// while another element may already read FOCUSED.
func (v *view) isMenuOpen() bool {
	all := v.snapshot.Elements
	for i := range all {
		p := all[i].Parent
		within := p >= 0 && (all[p].Role == desktop.Menu || all[p].Role.IsMenuItem() && all[i].Role.IsMenuItem())
		if within && v.snapshot.IsVisible(i) && v.document(i) < 0 {
			return true
		}
	}
	return false
}

// isPage reports whether the element is a page that cannot be edited.
func (v *view) isPage(i int) bool {
	e := &v.snapshot.Elements[i]
	return e.Role == desktop.Document && !e.States.Has(desktop.Editable)
}

// awaitTyped calls typing and reports whether the element was seen to receive the text in time. Its value changes, or
// its program reports a change, as for a password, which cannot be read. If within is 0, it only calls typing and
// returns false.
func (l focusCheckedInput) awaitTyped(ctx context.Context, i int, within time.Duration, typing func() error) (bool, error) {
	if within == 0 {
		return false, typing()
	}
	v, id := l.view, l.view.snapshot.Elements[i].ID
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	events := action{view: v}.subscribe(watching)
	before, err := v.read(ctx, id)
	if err == nil {
		err = typing()
	}
	if err != nil {
		return false, err
	}
	told := false
	return v.pollUntil(ctx, within, func() (bool, error) {
		now, err := v.backend.Tree.Read(ctx, v.app, id)
		told = told || hasTextEvent(events, id)
		return err == nil && (told || now.Value != before.Value), err
	})
}

// hasTextEvent reports whether a pending event is a text or value change of the element.
func hasTextEvent(events <-chan desktop.Event, id desktop.ID) bool {
	for {
		select {
		case event, open := <-events:
			if !open || event.ID == id && (event.Kind == desktop.TextChanged || event.Kind == desktop.ValueChanged) {
				return open
			}
		default:
			return false
		}
	}
}

// trackedInput records whether any input was delivered: if the second of two keys fails, the first still had an
// effect. It blocks input that would reach a question for the person.
type trackedInput struct {
	desktop.Input
	hasInput   *bool
	checkReach func(context.Context, programs.ReachFunc) error
	// checkPoint checks a place where more than a click begins; nil: nothing more happens.
	checkPoint func(desktop.Point) error
}

// checkReach calls programs.CheckPersonPrompts for the program.
func (v *view) checkReach(ctx context.Context, reaches programs.ReachFunc) error {
	return programs.CheckPersonPrompts(ctx, v.backend.Tree, v.app, reaches)
}

func (m trackedInput) note(err error) error {
	*m.hasInput = *m.hasInput || err == nil
	return err
}

func (m trackedInput) Click(ctx context.Context, seat desktop.Seat, w desktop.WindowID, at desktop.Point, button desktop.MouseButton, count int) error {
	if err := m.checkReach(ctx, programs.ReachesPoints(at)); err != nil {
		return err
	}
	if m.checkPoint != nil && (count > 1 || button != desktop.LeftButton) {
		if err := m.checkPoint(at); err != nil {
			return err
		}
	}
	return m.note(m.Input.Click(ctx, seat, w, at, button, count))
}

func (m trackedInput) Drag(ctx context.Context, seat desktop.Seat, w desktop.WindowID, from, to desktop.Point, duration time.Duration) error {
	if err := m.checkReach(ctx, programs.ReachesPoints(from, to)); err != nil {
		return err
	}
	if m.checkPoint != nil {
		if err := m.checkPoint(from); err != nil {
			return err
		}
	}
	return m.note(m.Input.Drag(ctx, seat, w, from, to, duration))
}

func (m trackedInput) Scroll(ctx context.Context, seat desktop.Seat, w desktop.WindowID, at desktop.Point, dx, dy int) error {
	if err := m.checkReach(ctx, programs.ReachesPoints(at)); err != nil {
		return err
	}
	return m.note(m.Input.Scroll(ctx, seat, w, at, dx, dy))
}

func (m trackedInput) Type(ctx context.Context, seat desktop.Seat, w desktop.WindowID, text string) error {
	if err := m.checkReach(ctx, programs.ReachesByText); err != nil {
		return err
	}
	return m.note(m.Input.Type(ctx, seat, w, text))
}

func (m trackedInput) Key(ctx context.Context, seat desktop.Seat, w desktop.WindowID, chord desktop.Chord) error {
	if err := m.checkReach(ctx, programs.NewChordReach(chord)); err != nil {
		return err
	}
	return m.note(m.Input.Key(ctx, seat, w, chord))
}

// WithKeyboard implements desktop.Keyboard. Input within while counts as delivered; taking the
// keyboard alone does not.
func (m trackedInput) WithKeyboard(ctx context.Context, seat desktop.Seat, w desktop.WindowID, while func(context.Context, desktop.Input) error) error {
	return m.Input.WithKeyboard(ctx, seat, w, func(ctx context.Context, input desktop.Input) error {
		return while(ctx, trackedInput{input, m.hasInput, m.checkReach, m.checkPoint})
	})
}

// partialInputError returns the error for input that was partly delivered.
func (m trackedInput) partialInputError(err error) error {
	if err == nil || !*m.hasInput {
		return err
	}
	e := *aai.AsError(err)
	if e.Delivery != aai.NotDelivered {
		return err
	}
	if e.Code == aai.AutomationNotSupported {
		e.Code = aai.AutomationFailed
	}
	e.Message = "only a part of it was done: " + strings.Replace(e.Message, ", and nothing was done", "", 1)
	e.Delivery, e.Hint = aai.DeliveryUnknown, "Look at the program before you go on; the action may be half done."
	return &e
}
