package fakedesktop

import (
	"context"
	"fmt"
	"slices"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// Execute implements desktop.Actor. A hanging program executes the act when it resumes, even if the caller
// has left.
func (b *backend) Execute(ctx context.Context, app desktop.App, id desktop.ID, act desktop.Act) error {
	late := func() {
		if p, err := b.d.lockResponsive(context.Background(), app, nil); err == nil {
			_ = p.perform(id, act) // the caller has left
		}
	}
	p, err := b.d.lockResponsive(ctx, app, late)
	if err != nil {
		return err
	}
	return p.perform(id, act)
}

// perform executes act and unlocks the desktop.
func (p *Program) perform(id desktop.ID, act desktop.Act) error {
	x, err := p.find(id)
	if err != nil {
		p.d.recordAction("Perform", string(act.Verb), "gone")
		p.d.mu.Unlock()
		return err
	}
	x.window.arrange()
	p.d.recordAction("Perform", string(act.Verb), string(x.e.Role), x.e.Name)
	do, err := x.effectOf(act)
	if err == nil {
		err = x.refusalOf(act)
	}
	asleep := p.pausesCovered && x.window.covered() > 0.9
	p.d.mu.Unlock()
	if err == nil && !asleep {
		do()
	}
	return err
}

// refusalOf returns an error if the element cannot execute the act now, or nil. The caller holds the
// desktop's lock.
func (x *Element) refusalOf(act desktop.Act) error {
	seen := x.showing || act.AllowClosedMenu && x.e.Role.IsMenuItem()
	if act.Verb == desktop.SelectItem {
		seen = x.parent.showing // toolkits select hidden options
	}
	switch {
	case act.Name != "" && x.e.Role.IsSetMember() && act.Name != x.e.Name:
		return notDeliveredError(aai.StaleRef, "the row is %s by now", desktop.Describe(&x.e))
	case act.Verb == desktop.ScrollTo:
		return nil
	case !seen:
		return notDeliveredError(aai.AutomationFailed, "%s is not showing", desktop.Describe(&x.e))
	case !x.e.States.Has(desktop.Enabled):
		return notDeliveredError(aai.AutomationFailed, "%s is disabled", desktop.Describe(&x.e))
	}
	return nil
}

// effectOf returns the effect of the act on the element, or an error. The caller holds the desktop's lock.
func (x *Element) effectOf(act desktop.Act) (do func(), err error) {
	s, r := x.e.States, x.e.Role
	number := x.e.Min < x.e.Max
	switch {
	case act.Verb == desktop.Press && len(x.e.Actions) > 0 && (act.Action == "" || slices.Contains(x.e.Actions, act.Action)):
		return x.pressed, nil
	case act.Verb == desktop.SetText && s.Has(desktop.Editable) && !number:
		return func() { x.SetText(act.Text) }, nil
	case act.Verb == desktop.InsertText && s.Has(desktop.Editable) && !number:
		return func() { x.SetText(x.Value() + act.Text) }, nil
	case act.Verb == desktop.SetNumber && number:
		return func() { x.SetNumber(act.Number) }, nil
	case act.Verb == desktop.SelectItem && s.Has(desktop.Selectable) && r != desktop.MenuItem && act.AddToSelection:
		return func() { x.selected(x.parent.e.States.Has(desktop.Multiselectable)) }, nil
	case act.Verb == desktop.SelectItem && s.Has(desktop.Selectable) && r != desktop.MenuItem:
		return x.Select, nil
	case act.Verb == desktop.TakeFocus && s.Has(desktop.Focusable):
		return x.takeFocus, nil
	case act.Verb == desktop.ScrollTo && x.scroller() != nil:
		return x.scrollIntoView, nil
	}
	return nil, notDeliveredError(aai.AutomationNotSupported, "%s offers no %s", desktop.Describe(&x.e), act.Verb)
}

// pressed executes the default reaction of the element to a press, and its handler.
func (x *Element) pressed() {
	x.d.mu.Lock()
	role, s := x.e.Role, x.e.States
	f := x.press
	if role == desktop.Button { // toolkits show the button as pressed
		x.program.emit(desktop.StateChanged, x.e.ID, "pressed")
	}
	x.d.mu.Unlock()
	switch {
	case s.Has(desktop.Checkable):
		x.Check(!s.HasAny(desktop.Checked))
	case role == desktop.Option || role == desktop.Tab:
		x.Select()
	case role == desktop.Menu || role == desktop.Combobox:
		x.fold(s.Has(desktop.Expanded))
	case role == desktop.Textbox:
		x.Focus()
	}
	if f != nil {
		f()
	}
	if role == desktop.MenuItem {
		x.parent.fold(true)
	}
}

// Check checks or unchecks the element.
func (x *Element) Check(checked bool) {
	if checked {
		x.AddState(desktop.Checked)
	} else {
		x.RemoveState(desktop.Checked)
	}
	x.changed()
}

func (x *Element) changed() {
	x.d.mu.Lock()
	f := x.change
	x.d.mu.Unlock()
	if f != nil {
		f()
	}
}

// Select makes the element the only selected item of its set.
func (x *Element) Select() { x.selected(false) }

// selected selects the element; with also set, other items stay selected.
func (x *Element) selected(also bool) {
	x.d.mu.Lock()
	set := x.parent
	for _, c := range set.children {
		if !also {
			c.e.States &^= desktop.Selected
		}
	}
	x.e.States |= desktop.Selected
	x.program.emit(desktop.SelectionMoved, set.e.ID, "")
	combo := set.e.Role == desktop.Combobox
	name := x.e.Name
	x.d.mu.Unlock()
	if combo {
		set.fold(true)
		if set.put(name) {
			return // it has emitted the event
		}
	}
	set.changed()
}

// Selected returns the name of the first selected item of a set, or "".
func (x *Element) Selected() string {
	x.d.mu.Lock()
	defer x.d.mu.Unlock()
	for _, c := range x.children {
		if c.e.States.Has(desktop.Selected) {
			return c.e.Name
		}
	}
	return ""
}

// fold opens or closes a menu.
func (x *Element) fold(closed bool) {
	x.edit(desktop.StateChanged, "expanded", func() bool {
		changed := x.folded != closed
		x.folded = closed
		x.e.States &^= desktop.Expanded
		if !closed {
			x.e.States |= desktop.Expanded
		}
		return changed
	})
}

func (x *Element) takeFocus() {
	x.d.mu.Lock()
	if x.program.raisesOnFocus {
		x.d.takeFocus(x.window)
	}
	x.d.mu.Unlock()
	x.Focus()
}

// scroller returns the nearest scrolling list around x, or nil.
func (x *Element) scroller() *Element {
	for p := x.parent; p != nil; p = p.parent {
		if p.rows > 0 {
			return p
		}
	}
	return nil
}

// scrollIntoView scrolls the list around x until x shows.
func (x *Element) scrollIntoView() {
	x.d.mu.Lock()
	list := x.scroller()
	row := x
	for row.parent != list {
		row = row.parent
	}
	i := slices.Index(list.children, row)
	to := min(i, max(list.offset, i-list.rows+1))
	bar := list.bar()
	x.d.mu.Unlock()
	bar.SetNumber(float64(to * rowHeight))
}

// scrollTo makes the i'th item the first showing one.
func (x *Element) scrollTo(i int) {
	x.edit(desktop.BoundsChanged, "", func() bool {
		to := max(0, min(i, len(x.children)-x.rows))
		changed := to != x.offset
		x.offset = to
		return changed
	})
}

// Offset returns how many items at the beginning of a list are scrolled out of view.
func (x *Element) Offset() int {
	x.d.mu.Lock()
	defer x.d.mu.Unlock()
	return x.offset
}

// String describes the element in messages of tests.
func (x *Element) String() string {
	x.d.mu.Lock()
	defer x.d.mu.Unlock()
	return fmt.Sprintf("%s %s", desktop.Describe(&x.e), x.e.ID)
}
