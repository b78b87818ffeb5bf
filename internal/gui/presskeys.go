package gui

import (
	"context"
	"slices"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
)

// Qt does not report the links in a label, only that the label takes the keyboard. In such a label, tab goes to each
// link before it leaves the label, and return opens the link.

// maxLinks is the number of tabs after which the label counts as one with several links.
const maxLinks = 3

// isKeyboardLink reports whether the element is a label that takes the keyboard for its links.
func (v *view) isKeyboardLink(i int) bool {
	e := &v.snapshot.Elements[i]
	return e.Role == desktop.Link && v.focusAction(e) != "" && v.backend.Actor != nil
}

// byLinkKeys returns the technique that opens the only link of a label by keys.
func (v *view) byLinkKeys(i int) technique {
	id, name, had := v.snapshot.Elements[i].ID, v.name(i), v.snapshot.Elements[i].States.Has(desktop.Focused)
	refused := func(why string) error {
		return &aai.Error{
			Code: aai.AutomationNotSupported, Delivery: aai.Delivered, Message: name + " " + why,
			Hint: `ax_screenshot shows where the link is; ax_click_at with mode "focus" clicks there.`,
		}
	}
	return v.byKeys(i, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		if err := v.focusByAction(ctx, i, desktop.Act{Verb: desktop.Press, Action: setFocus, Name: v.snapshot.Elements[i].Name}, input, seat, w); err != nil {
			return err
		}
		return withoutFocusCheck(input).WithKeyboard(ctx, seat, w.ID, func(ctx context.Context, input desktop.Input) error {
			k := linkKeys{focusTracker: v.newFocusTracker(ctx), id: id, press: func(key string) error { return input.Key(ctx, seat, w.ID, desktop.Chord{Key: key}) }}
			if had {
				if _, err := k.count(ctx); err != nil { // from the link that had the keyboard
					return err
				}
			}
			links, err := k.count(ctx)
			switch {
			case err != nil:
				return err
			case links == 0:
				return refused("has no link that takes the keyboard")
			case links > 1:
				return refused("has several links")
			}
			if err := k.enter(ctx); err != nil {
				return err
			}
			if moved, err := k.tab(ctx); err != nil || moved {
				return refused("did not keep the keyboard at its link")
			}
			return k.press("return")
		})
	})
}

// newFocusTracker returns a tracker for a window that holds the seat's keyboard. It works until ctx ends.
func (v *view) newFocusTracker(ctx context.Context) focusTracker {
	now := *v
	return focusTracker{view: &now, events: v.subscribe(ctx), holdsKeyboard: true}
}

// linkKeys goes through the links of a label.
type linkKeys struct {
	focusTracker
	id    desktop.ID
	press func(key string) error
}

// enter gives the label the keyboard, at none of its links.
func (k *linkKeys) enter(ctx context.Context) error {
	if err := k.backend.Actor.Execute(ctx, k.app, k.id, desktop.Act{Verb: desktop.Press, Action: setFocus}); err != nil {
		return err
	}
	_, err := k.pollUntil(ctx, effectCeiling, func() (bool, error) { return k.hasFocus(ctx, k.id) })
	if err != nil {
		return err
	}
	k.drainEvents()
	k.lastFocused = k.id
	return k.reread(ctx)
}

// tab presses tab, and reports whether the keyboard left the label.
func (k *linkKeys) tab(ctx context.Context) (left bool, err error) {
	if err := k.press("tab"); err != nil {
		return false, err
	}
	since := time.Now()
	left, err = k.pollUntil(ctx, wrongCeiling, func() (bool, error) {
		idle := k.backend.Events == nil || k.backend.Events.IsIdle(k.app)
		k.drainEvents()
		return k.lastFocused != k.id || idle && time.Since(since) > effectCeiling, nil
	})
	return left && k.lastFocused != k.id, err
}

// count returns the number of links until the keyboard leaves the label, at most maxLinks.
func (k *linkKeys) count(ctx context.Context) (int, error) {
	if err := k.enter(ctx); err != nil {
		return 0, err
	}
	for n := range maxLinks {
		if left, err := k.tab(ctx); left || err != nil {
			return n, err
		}
	}
	return maxLinks, nil
}

// togglesOnly reports whether the action of element i sets its state without a click, so that the program's handler of
// clicks does not run: "Toggle" of Qt. A box around other elements is not one: programs wait for the state of those.
func (v *view) togglesOnly(i int) bool {
	e := &v.snapshot.Elements[i]
	return v.app.HasSetFocus && slices.Contains(e.Actions, "Toggle") && !slices.Contains(e.Actions, "Press") && e.End == i+1 && !e.Role.IsSetMember()
}

// toggleAsLastResort returns the technique that sets the state of an element of which togglesOnly is true. A button
// that takes no keyboard is one of a tool bar: its state alone would differ from that of the program.
func (v *view) toggleAsLastResort(i int) technique {
	w := v.byAccessibility(i, "its accessibility action", desktop.Act{Verb: desktop.Press})
	w.risk = "only its state was set, without a click: a program that waits for the click did nothing"
	if !v.snapshot.Elements[i].States.Has(desktop.Focusable) {
		w.do = func(context.Context) error {
			return &aai.Error{
				Code: aai.AutomationNotSupported, Delivery: aai.NotDelivered,
				Message: "the action of " + v.name(i) + " would set its state without a click, and the program would do nothing",
				Hint:    `With mode "focus" the person's own pointer clicks it. An item of this name in the program's menus works in the background.`,
			}
		}
	}
	return w
}

// bySpace returns the technique that presses a button with a state by the space key, if the program reports no
// action for it, as GTK 4 does, or one that does not click.
func (v *view) bySpace(i int) []technique {
	e := &v.snapshot.Elements[i]
	if !e.States.Has(desktop.Checkable|desktop.Focusable) || e.Role.IsSetMember() || v.app.IsBrowser || len(e.Actions) > 0 && !v.togglesOnly(i) {
		return nil
	}
	return []technique{v.byKeys(i, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		if err := v.focusForSpace(ctx, i, input, seat, w); err != nil {
			return err
		}
		now, err := v.backend.Tree.Read(ctx, v.app, e.ID)
		switch {
		case err != nil:
			return err
		case now.Name != e.Name:
			return guierr.Failed(aai.NotDelivered, "%s is called %q since it has the keyboard", v.name(i), aai.CleanLabel(now.Name, 60))
		}
		return input.Key(ctx, seat, w.ID, desktop.Chord{Key: "space"})
	})}
}

// focusForSpace gives the element its window's keyboard focus, by an action or past elements that tab does not change.
func (v *view) focusForSpace(ctx context.Context, i int, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
	if e := &v.snapshot.Elements[i]; v.focusAction(e) != "" && v.backend.Actor != nil && !e.States.Has(desktop.Focused) {
		return v.focusByAction(ctx, i, desktop.Act{Verb: desktop.Press, Action: setFocus, Name: e.Name}, input, seat, w)
	}
	if passed := v.changedOnWay(i); passed >= 0 {
		return &aai.Error{
			Code: aai.AutomationNotSupported, Delivery: aai.NotDelivered,
			Message: "on the way there the keyboard would pass " + v.name(passed) + ", and the program may change its text or selection",
		}
	}
	return v.focusWithoutPress(ctx, i, input, seat, w)
}

// changedOnWay returns a field or list that tab may pass on the way from the focused element to element i; -1 if there is
// none. The lists of GTK 4 select each item that tab comes to.
// Programs validate and rewrite fields that the keyboard leaves; one that is seen to be empty has nothing to rewrite.
// From an unknown element the way is the whole window.
func (v *view) changedOnWay(i int) int {
	top := v.snapshot.WindowOf(i)
	first, last := top, v.snapshot.Elements[top].End
	if at := v.keyboardWithin(top, last); at >= 0 {
		first, last = min(at, i)+1, max(at, i)
		if list := max(v.listOf(at), v.listOf(v.snapshot.Elements[at].Parent)); list >= 0 && i >= v.snapshot.Elements[list].End || i < list {
			return list
		}
	}
	for p := first; p < last; p++ {
		e := &v.snapshot.Elements[p]
		empty := e.Role == desktop.Textbox && e.Value == "" && !e.States.Has(desktop.Protected) && v.snapshot.IsVisible(p)
		list := p+1 < e.End && (i <= p || i >= e.End) && (e.Role == desktop.Listbox || e.Role == desktop.Grid || e.Role == desktop.TreeView)
		if p != i && (takesText(e) && !empty || list) && e.States.Has(desktop.Enabled|desktop.Focusable) && !e.States.Has(desktop.Focused) && (v.snapshot.IsVisible(p) || v.snapshot.IsOffscreen(p)) {
			return p
		}
	}
	return -1
}
