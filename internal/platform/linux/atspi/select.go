package atspi

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// sensitive reports whether the app lets people operate the node. Cells of LibreOffice's sheets and
// paragraphs of its texts never have SENSITIVE.
func sensitive(n *node) bool {
	switch n.role {
	case roleTable, roleTableCell:
		return n.states.any(stateSensitive | stateEditable | stateFocusable)
	}
	return n.states.has(stateSensitive) || n.writes()
}

// writes reports whether people edit the node's text directly: a paragraph of LibreOffice's Writer has no
// field around it.
func (n *node) writes() bool {
	return (n.role == roleParagraph || n.role == roleHeading) && n.states.has(stateEditable)
}

// fixed reports whether the node can be used but not changed: Chromium sets SENSITIVE on no read-only
// field.
func (n *node) fixed(habits *profile) bool {
	return habits.omitsSensitive && n.states.has(stateReadOnly|stateFocusable)
}

// textLength returns the length of a text as the toolkit counts it in an insertion.
func (p *profile) textLength(s string) int {
	if p.countsUTF16 {
		return utf16Length(s)
	}
	return len(s)
}

func utf16Length(s string) int {
	n := 0
	for _, r := range s {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}

// A set is the container in which an element is selected.
type set struct {
	holder   *node // the visible part of the set: it must show, its items need not
	selector *node // the node that can select; nil if there is none
	index    int   // of the element in the selector
	row      bool  // the selector is a table whose rows are selected
	several  bool  // it allows several selected items without MULTISELECTABLE
}

// selectItem selects the element alone in its set, or with also in addition to others.
func (a *actor) selectItem(ctx context.Context, also bool) error {
	if !sensitive(a.n) {
		return a.refuse("is disabled", "The app does not allow it now; find out what it waits for.")
	}
	s, err := a.set(ctx)
	if err != nil {
		return markNotDelivered(a.p.failed(a.app, err))
	}
	shows, err := a.shows(ctx, s.holder)
	if err != nil {
		return err
	}
	if !shows {
		return a.refuse("is in something that is not showing", "Bring it into view first: open its window, menu or tab.")
	}
	switch {
	case a.p.profile().omitsPageEvents && a.n.inPage(): // Gecko's page would receive no event
		return a.unsupported("cannot be selected by its list", nil)
	case s.selector == nil && also:
		return a.unsupported("cannot be selected beside others", nil)
	case s.selector == nil:
		return a.selectByAction(ctx)
	case s.row && !s.several:
		return a.selectRow(ctx, s)
	}
	if !also && (s.several || s.selector.states.has(stateMultiselectable)) {
		if err := a.clear(ctx, s); err != nil {
			return err
		}
	}
	if s.row {
		return a.selectRow(ctx, s)
	}
	choose := numbers(selectionInterface, "SelectChild", "i", "b", int32(s.index))
	err = a.do(ctx, choose, s.selector.ref)
	if err == nil && !also && a.p.profile().addsSelected && a.selected(ctx, s) > 1 {
		if err = a.do(ctx, method(selectionInterface, "ClearSelection", "b"), s.selector.ref); err == nil {
			err = a.do(ctx, choose, s.selector.ref)
		}
	}
	if e, ok := errors.AsType[*aai.Error](err); ok && e.Code == aai.AutomationFailed && e.Delivery == aai.Delivered && a.n.action() && !also {
		return a.selectByAction(ctx) // the set refused; the item may accept
	}
	return err
}

// clear deselects all items of the set, and waits until the element is deselected. Chromium's page
// deselects only after the answer; Chromium would not reselect an element that it still reports as
// selected.
func (a *actor) clear(ctx context.Context, s set) error {
	err := a.do(ctx, method(selectionInterface, "ClearSelection", "b"), s.selector.ref)
	if err != nil || !a.n.states.has(stateSelected) {
		return err
	}
	for until := time.Now().Add(clears); time.Now().Before(until); {
		now, err := a.p.readOne(ctx, a.n.ref)
		if err != nil {
			return a.p.failed(a.app, err)
		}
		if !now.states.has(stateSelected) {
			return nil
		}
		if err := aai.Sleep(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// clears is how long a program may still report deselected items as selected.
const clears = time.Second

// selected returns the number of selected items in the set; 0 if unknown.
func (a *actor) selected(ctx context.Context, s set) (n int) {
	r := &batch{}
	r.add(property(selectionInterface, "NSelectedChildren"), s.selector.ref, func(d *wire.Decoder) {
		if v, ok := readNumber(d); ok {
			n = int(v)
		}
	})
	if a.p.run(ctx, r) != nil {
		return 0
	}
	return n
}

// set returns the set of the element: its parent, or the combo box around the parent. An item without a set
// must itself show.
func (a *actor) set(ctx context.Context) (set, error) {
	parent, index := a.n.parent, a.n.index
	if parent == nil || parent.ref == a.p.root || index < 0 {
		return set{holder: a.n}, nil
	}
	if parent.role == roleTableCell { // in GTK, a cell of a picture and a text selects within its own parent
		cell, err := a.p.readOne(ctx, parent.ref)
		if err != nil {
			return set{}, err
		}
		if table := cell.parent; table != nil && (table.role == roleTable || table.role == roleTreeTable) && cell.index >= 0 {
			parent, index = table, cell.index
		}
	}
	s := set{holder: a.n, index: index}
	if parent.offers&offersSelection != 0 {
		s.holder, s.selector = parent, parent
		s.row = (parent.role == roleTable || parent.role == roleTreeTable) && parent.offers&offersTable != 0 && a.p.profile().rowsOfTables
		s.several = s.row
	}
	if (parent.role == roleList || parent.role == roleTree) && parent.offers&offersTable != 0 && s.selector == nil {
		s.holder, s.selector, s.row = parent, parent, true // a Qt list or tree
	}
	grouped := parent.role == rolePanel
	if grouped { // a group of options in a page
		group, err := a.p.readOne(ctx, parent.ref)
		if err != nil || group.parent == nil {
			return s, err
		}
		parent = group.parent
	}
	if parent.role != roleMenu && parent.role != roleList && parent.role != roleListBox {
		return s, nil
	}
	list, err := a.p.readOne(ctx, parent.ref)
	if err != nil {
		return set{}, err
	}
	if box := list.parent; box != nil && box.role == roleComboBox {
		s.holder, s.selector, s.row = box, nil, false // selecting only in its list has no effect
		if box.offers&offersSelection != 0 && !grouped {
			s.selector = box
		}
	}
	return s, nil
}

// selectRow selects the element's row, in a list that can select only rows.
func (a *actor) selectRow(ctx context.Context, s set) error {
	row := -1
	r := &batch{}
	r.add(numbers(tableInterface, "GetRowAtIndex", "i", "i", int32(s.index)), s.selector.ref, func(d *wire.Decoder) { row = int(d.I32()) })
	if err := a.p.run(ctx, r); err != nil {
		return markNotDelivered(a.p.failed(a.app, err))
	}
	if row < 0 {
		return a.unsupported("cannot be selected", nil)
	}
	return a.do(ctx, numbers(tableInterface, "AddRowSelection", "i", "b", int32(row)), s.selector.ref)
}

// selectByAction presses an item of a set that cannot select: a tab of Qt, an option of a web page.
func (a *actor) selectByAction(ctx context.Context) error {
	if !a.n.action() {
		return a.unsupported("cannot be selected", nil)
	}
	if err := a.actions(ctx); err != nil {
		return err
	}
	for i, name := range a.n.actions {
		switch strings.ToLower(name) {
		case "press", "select", "click":
			return a.do(ctx, numbers(actionInterface, "DoAction", "i", "b", int32(i)), a.n.ref)
		}
	}
	return a.unsupported("cannot be selected", nil)
}
