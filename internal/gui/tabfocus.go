package gui

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
)

// Some elements take no text, and no focus by accessibility. They get their window's keyboard focus
// by a click or, if that would take the person's focus, by the tab key.

// maxTabs limits how many elements the tab key passes.
const maxTabs = 100

// maxTabsInside limits how many items of one list the tab key passes: it does not leave the tables of Qt.
const maxTabsInside = 8

// focusOrClick gives the element its window's keyboard focus: by accessibility, or else by a click.
func (v *view) focusOrClick(ctx context.Context, i int, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
	err := v.moveFocus(ctx, i, input, seat, w)
	if e := aai.AsError(err); e == nil || e.Code != aai.AutomationNotSupported || e.Delivery != aai.NotDelivered {
		return err
	}
	return v.clickOrTabTo(ctx, i, v.snapshot.Elements[i].Frame.Center(), input, seat, w)
}

// focusWithoutPress gives the element its window's keyboard focus without pressing it, as a click
// would.
func (v *view) focusWithoutPress(ctx context.Context, i int, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
	e := &v.snapshot.Elements[i]
	switch {
	case e.States.Has(desktop.Focused) && !v.isRemembered(i):
		return nil
	case fieldtext.IsSheetCell(e):
		return v.enterCell(ctx, i, input, seat, w)
	case takesText(e):
		return v.focusOrClick(ctx, i, input, seat, w)
	case v.app.IsBrowser && !v.app.FocusOnlyWhenActive && seat == desktop.OwnSeat && v.backend.Actor != nil && e.States.Has(desktop.Focusable):
		return nil // the first stroke moves the focus, when the window has the keyboard
	case (seat == desktop.PersonSeat || v.app.FocusOnlyWhenActive) && v.backend.Actor != nil:
		if v.focusByAction(ctx, i, desktop.Act{Verb: desktop.TakeFocus, Name: e.Name}, input, seat, w) == nil {
			return nil
		}
		if v.listOf(i) >= 0 && !v.app.IsBrowser { // a click on an item makes it the current one, as arrow keys do
			return v.clickOrTabTo(ctx, i, e.Frame.Center(), input, seat, w)
		}
	case v.focusAction(e) != "" && v.backend.Actor != nil:
		if v.focusByAction(ctx, i, desktop.Act{Verb: desktop.Press, Action: setFocus, Name: e.Name}, input, seat, w) == nil {
			return nil
		}
	case v.app.WheelFocuses && e.Role == desktop.Combobox && seat == desktop.OwnSeat:
		v.focusByWheel(ctx, i, input, seat, w)
	}
	err := v.tabTo(ctx, e.ID, input, seat, w)
	if refused := aai.AsError(err); refused != nil && refused.Delivery == aai.NotDelivered && v.focusNeighbour(ctx, i, input, seat, w) {
		return v.tabTo(ctx, e.ID, input, seat, w)
	}
	return err
}

// focusByWheel turns the wheel sideways over the element, which changes nothing but the focus, if no other element is
// there. tabTo then finds the element focused, or goes there.
func (v *view) focusByWheel(ctx context.Context, i int, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) {
	at, err := v.clickPoint(i, w)
	if err == nil && v.isSharedPlace(i, at) {
		return
	}
	if err == nil {
		err = withoutFocusCheck(input).Scroll(ctx, seat, w.ID, at, 1, 0)
	}
	if err != nil {
		v.engine.Log.Debug("the wheel did not focus an element", "error", err)
	}
}

// isSharedPlace reports whether an element that is operated, and is not around or inside element i, contains the
// point too.
func (v *view) isSharedPlace(i int, at desktop.Point) bool {
	all := v.snapshot.Elements
	for j := range all {
		related := j <= i && i < all[j].End || j >= i && j < all[i].End
		if !related && all[j].Role.IsInteractive() && all[j].States.Has(desktop.Showing) && all[j].Frame.Contains(at) && v.snapshot.WindowOf(j) == v.snapshot.WindowOf(i) {
			return true
		}
	}
	return false
}

// clickOrTabTo clicks a point of an element, or moves the focus there by keys.
func (v *view) clickOrTabTo(ctx context.Context, i int, at desktop.Point, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
	if v.snapshot.Elements[i].States.Has(desktop.Focused) {
		return nil
	}
	if v.app.FocusOnlyWhenActive && seat == desktop.OwnSeat && v.backend.Actor != nil {
		if v.focusByAction(ctx, i, desktop.Act{Verb: desktop.TakeFocus}, input, seat, w) == nil {
			return nil
		}
	}
	if _, err := v.clickPoint(i, w); err != nil {
		return err
	}
	err := input.Click(ctx, seat, v.windowToClick(ctx, w, at).ID, at, desktop.LeftButton, 1)
	if e := aai.AsError(err); e == nil || e.Code != aai.AutomationNotSupported || e.Delivery != aai.NotDelivered {
		return err
	}
	return v.tabTo(ctx, v.snapshot.Elements[i].ID, input, seat, w)
}

// tabTo presses tab until the element has the keyboard. A program with LosesLateKeys holds the
// seat's keyboard from the first tab to the last.
func (v *view) tabTo(ctx context.Context, id desktop.ID, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
	input = withoutFocusCheck(input)
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	now := *v
	k := focusTracker{view: &now, events: v.subscribe(watching)}
	if err := k.reread(ctx); err != nil {
		return err
	}
	if seat == desktop.PersonSeat || !v.app.LosesLateKeys {
		return k.tabTo(ctx, id, input, seat, w)
	}
	return input.WithKeyboard(ctx, seat, w.ID, func(ctx context.Context, input desktop.Input) error {
		if k.focusedIndex() < 0 {
			if err := k.awaitFocusReport(ctx); err != nil {
				return err
			}
		}
		k.holdsKeyboard = true
		return k.tabTo(ctx, id, input, seat, w)
	})
}

// tabTo presses tab until the element has the keyboard.
func (k *focusTracker) tabTo(ctx context.Context, id desktop.ID, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
	pressed, back, turns, judged := 0, false, 0, false
	inside := 0 // consecutive tabs that moved the focus within one list
	told := k.holdsKeyboard || seat == desktop.PersonSeat || k.app.ReportsFocusEarly
	for ; pressed < maxTabs; pressed++ {
		if has, err := k.hasReached(ctx, id, pressed > 0); has || err != nil {
			return err
		}
		i, at := k.snapshot.Index(id), k.focusedIndex()
		if i < 0 || turns > 1 {
			break
		}
		in := k.tabConsumer(i, at, k.holdsKeyboard || pressed > 0 || seat == desktop.PersonSeat)
		if in >= 0 && pressed == 0 && in != at && !k.holdsKeyboard {
			if err := k.activateBriefly(ctx, input, seat, w); err != nil {
				return err
			}
			if i, at = k.snapshot.Index(id), k.snapshot.Index(k.lastFocused); i < 0 {
				break
			}
			if i == at {
				return nil
			}
			in = k.tabConsumer(i, at, at >= 0)
		}
		if in >= 0 {
			return notReachedError(pressed, ": tab, by which it would be reached, may be a character in "+k.name(in))
		}
		chord := desktop.Chord{Key: k.arrowTo(i, at)}
		if chord.Key == "" {
			if at > i != back {
				back = !back
				turns++
			}
			chord = tabChord(back)
		} else if !judged {
			judged = true
			if err := k.prepareArrows(ctx, id, told, input, seat, w); err != nil {
				return err
			}
			continue
		}
		if err := input.Key(ctx, seat, w.ID, chord); err != nil {
			return err
		}
		list := k.listOf(at)
		moved, err := k.awaitMove(ctx, at)
		if inside++; chord.Key != "tab" || list < 0 || k.listOf(k.focusedIndex()) != list {
			inside = 0
		}
		if err == nil && !moved && chord.Key == "down" && at == k.itemList(i) {
			k.atLast = true
			continue
		}
		if err != nil || !moved || inside > maxTabsInside {
			pressed++
			break
		}
		told = true
	}
	return notReachedError(pressed, "")
}

// tabChord returns the key that moves the focus on or back.
func tabChord(back bool) desktop.Chord {
	if back {
		return desktop.Chord{Key: "tab", Modifiers: []string{"shift"}}
	}
	return desktop.Chord{Key: "tab"}
}

// activateBriefly gives the window the keyboard for a moment, in which programs report its focused
// element, and presses nothing.
func (k *focusTracker) activateBriefly(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
	k.drainEvents()
	k.lastFocused = ""
	err := input.WithKeyboard(ctx, seat, w.ID, func(ctx context.Context, _ desktop.Input) error { return k.awaitFocusReport(ctx) })
	return cmp.Or(err, k.reread(ctx))
}

// awaitFocusReport waits up to effectCeiling until the program has reported the focused element of
// the window that got the keyboard.
func (k *focusTracker) awaitFocusReport(ctx context.Context) error {
	before := k.changesHeard
	_, err := k.pollUntil(ctx, effectCeiling, func() (bool, error) { k.drainEvents(); return k.changesHeard > before, nil })
	return err
}

// notReachedError returns the error for an element that tab did not reach.
func notReachedError(pressed int, why string) error {
	e := &aai.Error{
		Code: aai.AutomationNotSupported, Delivery: aai.NotDelivered,
		Message: "it does not take the keyboard in the background" + why,
	}
	if pressed > 0 {
		e.Code, e.Delivery = aai.AutomationFailed, aai.DeliveryUnknown
		e.Message += fmt.Sprintf("; on the way to it tab was pressed %d times, and another element may have the program's keyboard now", pressed)
		e.Hint = `Look at the program before you go on; the mode "focus" takes the person's keyboard.`
	}
	return e
}

// tabConsumer returns the element in which tab might be a character instead of a focus move; -1 if
// there is none. It is the focused element or, if that is unknown, any in the window of the element
// i.
func (k *focusTracker) tabConsumer(i, at int, told bool) int {
	if k.app.IsBrowser || k.arrowTo(i, at) != "" {
		return -1 // in a page, tab leaves a field; in a list, arrow keys lead to the item
	}
	// Only GTK reports the focused element in the background before a key comes. LibreOffice on GTK
	// reports its canvas as focused.
	if at >= 0 && (told || k.app.ReportsFocusEarly) && k.snapshot.Elements[at].Role != desktop.Generic {
		if k.keepsTab(at) {
			return at
		}
		return -1
	}
	top := i
	for k.snapshot.Elements[top].Parent >= 0 {
		top = k.snapshot.Elements[top].Parent
	}
	for in := top; in < k.snapshot.Elements[top].End; in++ {
		if k.snapshot.Elements[in].States.Has(desktop.Showing) && k.keepsTab(in) {
			return in
		}
	}
	return -1
}

// enoughLooks is how many reads establish that the focus stays: one read of a busy program takes
// seconds, and the program sleeps now and then.
const enoughLooks = 3

// focusTracker tracks a window's focused element, even if the window loses the keyboard right after
// each key. Programs still report the focus move.
type focusTracker struct {
	*view
	events        <-chan desktop.Event
	lastFocused   desktop.ID // the last element reported as focused
	changesHeard  int        // number of focus moves reported
	newer         bool       // reported since the last read began
	atLast        bool       // the current item of the list, which is not reported, is the last one
	holdsKeyboard bool       // the window has the seat's keyboard, and reports each move
}

// reread refreshes the view and drains the events until then.
func (k *focusTracker) reread(ctx context.Context) error {
	k.drainEvents()
	heard := k.changesHeard
	if err := k.refresh(ctx); err != nil {
		return err
	}
	k.drainEvents()
	k.newer = k.changesHeard > heard
	return nil
}

// hasReached reports whether the element has its window's focus. After a key it polls until the
// program rests or a limit passes. The key may only have given the window the keyboard, at its
// previous element, and its own effect is still to come.
func (k *focusTracker) hasReached(ctx context.Context, id desktop.ID, pressed bool) (bool, error) {
	within := func() bool { i := k.snapshot.Index(id); return i >= 0 && k.focusedIndex() == i }
	if !within() || !pressed {
		return within(), nil
	}
	since, looks := time.Now(), 0
	_, err := k.pollUntil(ctx, effectCeiling, func() (bool, error) {
		looks++
		rests := k.backend.Events == nil || k.backend.Events.IsIdle(k.app)
		if _, err := k.backend.Tree.Read(ctx, k.app, id); err != nil { // this handles events sent before the reply
			return false, err
		}
		err := k.reread(ctx)
		return err == nil && (!within() || (rests || k.holdsKeyboard) && !k.newer || looks >= enoughLooks && time.Since(since) > effectCeiling), err
	})
	return err == nil && within(), err
}

// drainEvents processes the events received until now.
func (k *focusTracker) drainEvents() {
	for {
		select {
		case event, open := <-k.events:
			if !open {
				k.events = nil
				return
			}
			if event.Kind == desktop.FocusMoved && event.ID != k.lastFocused && !k.isOwnTable(event.ID) {
				k.lastFocused = event.ID
				k.changesHeard++
			}
		default:
			return
		}
	}
}

// isOwnTable reports whether the element is the table of the cell that was focused last. GTK 3 reports the table after
// the cell whenever its window gets the keyboard.
func (k *focusTracker) isOwnTable(id desktop.ID) bool {
	table := k.listOf(k.snapshot.Index(k.lastFocused))
	return k.app.KeepsCursor && table >= 0 && k.snapshot.Elements[table].ID == id
}

// focusedIndex returns the element that has its window's focus, or had it last; -1 if unknown. For the content of an
// item it is the item: GTK 4 gives the focus to the expander in a row of a tree.
func (k *focusTracker) focusedIndex() int {
	at := k.snapshot.Index(k.lastFocused)
	if at < 0 || !k.newer && !k.holdsKeyboard {
		if m, err := k.focused(); err == nil {
			at = m.index
		}
	}
	if at >= 0 && k.snapshot.Elements[at].Role == desktop.Group && k.listOf(k.snapshot.Elements[at].Parent) >= 0 {
		return k.snapshot.Elements[at].Parent
	}
	return at
}

// awaitMove waits until another element than was has the focus, and reports whether one has. If was is unknown, the
// program may first report the old one, when its window gets the keyboard. awaitMove then waits for the effect of the
// key.
func (k *focusTracker) awaitMove(ctx context.Context, was int) (bool, error) {
	var id, last desktop.ID
	if was >= 0 {
		id = k.snapshot.Elements[was].ID
	}
	if k.holdsKeyboard {
		before := k.changesHeard
		return k.pollUntil(ctx, wrongCeiling, func() (bool, error) {
			k.drainEvents()
			if k.changesHeard != before && k.snapshot.Index(k.lastFocused) < 0 {
				before = k.changesHeard
				if err := k.reread(ctx); err != nil {
					return false, err
				}
			}
			at := k.focusedIndex()
			return at >= 0 && at != was, nil
		})
	}
	since, looks := time.Now(), 0
	return k.pollUntil(ctx, wrongCeiling, func() (bool, error) {
		rests := k.backend.Events == nil || k.backend.Events.IsIdle(k.app)
		if err := k.reread(ctx); err != nil {
			return false, err
		}
		at := k.focusedIndex()
		if at < 0 || k.snapshot.Elements[at].ID == id {
			return false, nil
		}
		if now := k.snapshot.Elements[at].ID; now != last {
			last, since, looks = now, time.Now(), 0
		}
		looks++
		stands := time.Since(since)
		settled := looks > enoughLooks && (rests && stands > effectCeiling || stands > wrongCeiling)
		return id != "" || k.changesHeard > 1 || settled, nil
	})
}
