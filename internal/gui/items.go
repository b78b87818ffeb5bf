package gui

import (
	"context"
	"fmt"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// expandedWords are the values by which ax_set_value opens and closes an item.
func expandedWords() map[string]bool {
	return map[string]bool{"expanded": true, "collapsed": false}
}

// isExpansion reports whether setting the item to the value opens or closes it.
func (v *view) isExpansion(i int, value string) bool {
	_, is := expandedWords()[strings.ToLower(value)]
	return is && v.itemList(i) >= 0 && v.expander(i) >= 0
}

// expander returns the part of item i that opens and closes it: the item itself or, in GTK 4, the element around its
// content. It returns -1 if the item does not open.
func (v *view) expander(i int) int {
	if v.snapshot.Elements[i].States.Has(desktop.Expandable) {
		return i
	}
	part := i + 1
	if part < v.snapshot.Elements[i].End && v.snapshot.Elements[part].Role == desktop.Group && v.snapshot.Elements[part].States.Has(desktop.Expandable) {
		return part
	}
	return -1
}

// setExpanded opens or closes an item of a tree.
func (v *view) setExpanded(ctx context.Context, i int, value string) (*aai.Result, error) {
	want := expandedWords()[strings.ToLower(value)]
	part := v.expander(i)
	if v.snapshot.Elements[part].States.Has(desktop.Expanded) == want {
		return v.alreadySetResult(i), nil
	}
	key, step := "right", "listitem.expand"
	if !want {
		key, step = "left", "listitem.collapse"
	}
	a := action{view: v, index: i, doneText: "Set", techniques: []technique{
		v.byAccessibility(i, "its accessibility action", desktop.Act{Verb: desktop.Press, Action: "expand or contract"}), // of GTK 3
		v.byAccessibility(part, "its accessibility action", desktop.Act{Verb: desktop.Press, Action: step}),              // of GTK 4
		v.byItemKey(i, key),
	}}
	return a.untilExpanded(ctx, v.snapshot.Elements[part].ID, want)
}

// isItemCheck reports whether the value is for a box in an item of a list or tree that does not report if it has one,
// as in Qt.
func (v *view) isItemCheck(i int, value string) bool {
	e := &v.snapshot.Elements[i]
	isBool := strings.EqualFold(value, "true") || strings.EqualFold(value, "false")
	return isBool && v.app.HasSetFocus && e.Role != desktop.Cell && !e.States.Has(desktop.Editable) && v.itemList(i) >= 0
}

// setItemChecked sets the box in an item by the space key.
func (v *view) setItemChecked(ctx context.Context, i int, want bool) (*aai.Result, error) {
	id := v.snapshot.Elements[i].ID
	now, err := v.read(ctx, id) // Qt reports no changes of boxes in items
	if err != nil {
		return nil, err
	}
	if now.States.Has(desktop.Checked) == want {
		out := v.alreadySetResult(i)
		if !want {
			out.Warning = "it may have no check box: the program does not report that"
		}
		return out, nil
	}
	a := action{view: v, index: i, doneText: "Set", techniques: []technique{v.byItemKey(i, "space")}}
	a.verify = func(ctx context.Context) (string, bool) {
		now, err := v.backend.Tree.Read(ctx, v.app, id)
		if err != nil || now.States.Has(desktop.Checked) == want {
			return "", err == nil
		}
		return fmt.Sprintf("it is not %v: it may have no check box", want), false
	}
	return a.execute(ctx)
}

// byItemKey returns a technique that presses a key in an item.
func (v *view) byItemKey(i int, key string) technique {
	return v.byKeys(i, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		if err := v.focusWithoutPress(ctx, i, input, seat, w); err != nil {
			return err
		}
		return input.Key(ctx, seat, w.ID, desktop.Chord{Key: key})
	})
}

// untilExpanded executes an action that should open or close an item, and reads the state of its expander back.
func (a action) untilExpanded(ctx context.Context, id desktop.ID, want bool) (*aai.Result, error) {
	a.verify = func(ctx context.Context) (string, bool) {
		is := !want
		_, err := a.pollUntil(ctx, wrongCeiling, func() (bool, error) {
			now, err := a.backend.Tree.Read(ctx, a.app, id)
			is = now.States.Has(desktop.Expanded)
			return err == nil && is == want, err
		})
		if is == want || err != nil {
			return "", is == want
		}
		return "its state is as before", false
	}
	return a.execute(ctx)
}

// focusNeighbour gives the keyboard to the nearest element with an action for that, and reports whether it did. Qt's
// lists have no such action, and tab does not leave its tables.
func (v *view) focusNeighbour(ctx context.Context, i int, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) bool {
	list := v.listOf(i)
	if list < 0 {
		list = i
	}
	near := v.neighbour(list)
	if v.backend.Actor == nil || near < 0 {
		return false
	}
	act := desktop.Act{Verb: desktop.Press, Action: setFocus, Name: v.snapshot.Elements[near].Name}
	err := v.focusByAction(ctx, near, act, input, seat, w)
	return err == nil
}

// neighbour returns the nearest element outside of element i that has an action for the keyboard, with nothing
// between the two that keeps tab; -1 if there is none. It prefers those that take no text: programs rewrite fields that
// the keyboard leaves.
func (v *view) neighbour(i int) int {
	top, field := v.snapshot.WindowOf(i), -1
	reach := func(from, step int) int {
		for j := from; j > top && j < v.snapshot.Elements[top].End; j += step {
			switch e := &v.snapshot.Elements[j]; {
			case !e.States.Has(desktop.Enabled) || j < i && i < e.End || !v.snapshot.IsVisible(j) && !v.snapshot.IsOffscreen(j):
			case v.keepsTab(j):
				return -1
			case v.focusAction(e) != "" && takesText(e):
				field = max(field, j)
			case v.focusAction(e) != "":
				return j
			}
		}
		return -1
	}
	before, after := reach(i-1, -1), reach(v.snapshot.Elements[i].End, 1)
	if before < 0 && after < 0 {
		return field
	}
	if before < 0 || after >= 0 && after-v.snapshot.Elements[i].End < i-before {
		return after
	}
	return before
}

// arrowTo returns the arrow key that moves the focus from element at towards element i if both are in one list,
// tree or table, in which tab does not move; else "". An element at that is the list itself has no current item,
// and "down" makes the first one current. Without places, the items of a list are one below the other.
func (k *focusTracker) arrowTo(i, at int) string {
	list := k.itemList(i)
	if at < 0 || list < 0 || at < list || at >= k.snapshot.Elements[list].End || at > list && k.itemList(at) != list {
		return ""
	}
	is, to := k.snapshot.Elements[at].Frame, k.snapshot.Elements[i].Frame
	known, row := !is.Empty() && !to.Empty(), k.snapshot.Elements[i].Role != desktop.Cell
	switch {
	case at == list && k.atLast:
		return "up"
	case at == list, !known && row && at < i:
		return "down"
	case !known && row:
		return "up"
	case !known, !is.Intersect(to).Empty():
		return ""
	case to.Y >= is.Y+is.H:
		return "down"
	case to.Y+to.H <= is.Y:
		return "up"
	case to.X > is.X:
		return "right"
	}
	return "left"
}

// listOf returns the list around the item at, or -1.
func (v *view) listOf(at int) int {
	if at < 0 {
		return -1
	}
	return v.itemList(at)
}

// isRemembered reports whether the element is the current item of a list without the keyboard. Qt reports each of
// these as focused.
func (v *view) isRemembered(i int) bool {
	list := v.listOf(i)
	return v.app.HasSetFocus && list >= 0 && !v.snapshot.Elements[list].States.Has(desktop.Focused)
}

// itemList returns the list, tree or table around an item; -1 if it is not an item of one.
func (v *view) itemList(i int) int {
	switch v.snapshot.Elements[i].Role {
	case desktop.Option, desktop.ListItem, desktop.TreeItem, desktop.Row, desktop.Cell:
	default:
		return -1
	}
	for up := v.snapshot.Elements[i].Parent; up >= 0; up = v.snapshot.Elements[up].Parent {
		switch v.snapshot.Elements[up].Role {
		case desktop.Listbox, desktop.List, desktop.TreeView, desktop.Table, desktop.Grid:
			return up
		case desktop.Window: // a list of Qt that is a window itself
			if v.app.SelectsWithoutCurrent && up == v.snapshot.Elements[i].Parent {
				return up
			}
		}
	}
	return -1
}

// prepareArrows gives the window the keyboard for a moment if it is not told yet which element has the focus, and asks
// the gates about the items between that element and the one with the ID.
func (k *focusTracker) prepareArrows(ctx context.Context, id desktop.ID, told bool, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
	if !told {
		if err := k.activateBriefly(ctx, input, seat, w); err != nil {
			return err
		}
	}
	i, at := k.snapshot.Index(id), k.focusedIndex()
	if i < 0 || at < 0 {
		return nil
	}
	return k.judgePassed(ctx, i, k.passedItems(at, i))
}

// passedItems returns the items between two elements of a list, in the order of the outline.
func (k *focusTracker) passedItems(from, to int) (passed []int) {
	for j := min(from, to) + 1; j < max(from, to); j++ {
		if k.itemList(j) >= 0 {
			passed = append(passed, j)
		}
	}
	return passed
}

// itemOfFormerText returns the selected item in the dialog of field i that has the former text of the field; -1 if there
// is none. In Qt's file dialogs the selection is left only for a text typed by the window's own keyboard.
func (v *view) itemOfFormerText(before *desktop.Snapshot, i int) int {
	field := &v.snapshot.Elements[i]
	at := before.Index(field.ID)
	if !v.app.SelectsWithoutCurrent || !takesText(field) || at < 0 || before.Elements[at].Value == "" || before.Elements[at].Value == field.Value {
		return -1
	}
	top := v.snapshot.WindowOf(i)
	if !v.snapshot.Elements[top].IsDialog() {
		return -1
	}
	for j := top; j < v.snapshot.Elements[top].End; j++ {
		if e := &v.snapshot.Elements[j]; e.Role.IsSetMember() && e.States.Has(desktop.Selected) && e.Name == before.Elements[at].Value {
			return j
		}
	}
	return -1
}
