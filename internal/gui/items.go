package gui

import (
	"context"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// expandedWords are the values by which ax_set_value opens and closes an item.
func expandedWords() map[string]bool {
	return map[string]bool{"expanded": true, "collapsed": false, "true": true, "false": false}
}

// isExpansion reports whether setting the item to the value opens or closes it.
func (v *view) isExpansion(i int, value string) bool {
	_, is := expandedWords()[strings.ToLower(value)]
	return is && v.itemList(i) >= 0 && v.snapshot.Elements[i].States.Has(desktop.Expandable)
}

// setExpanded opens or closes an item of a tree.
func (v *view) setExpanded(ctx context.Context, i int, value string) (*aai.Result, error) {
	want := expandedWords()[strings.ToLower(value)]
	if v.snapshot.Elements[i].States.Has(desktop.Expanded) == want {
		return v.alreadySetResult(i), nil
	}
	key := "right"
	if !want {
		key = "left"
	}
	a := action{view: v, index: i, doneText: "Set", techniques: []technique{
		v.byAccessibility(i, "its accessibility action", desktop.Act{Verb: desktop.Press, Action: "expand or contract"}), // of GTK 3
		v.byItemKey(i, key),
	}}
	return a.untilItem(ctx, desktop.Expanded, want)
}

// isItemCheck reports whether setting the item to the value checks or unchecks it. Qt does not say which items have a
// check box.
func (v *view) isItemCheck(i int, value string) bool {
	_, err := strconv.ParseBool(strings.ToLower(value))
	role := v.snapshot.Elements[i].Role
	return err == nil && v.itemList(i) >= 0 && (role == desktop.Option || role == desktop.ListItem || role == desktop.TreeItem)
}

// setItemChecked checks or unchecks an item of a list or tree.
func (v *view) setItemChecked(ctx context.Context, i int, value string) (*aai.Result, error) {
	want, _ := strconv.ParseBool(strings.ToLower(value))
	if v.snapshot.Elements[i].States.Has(desktop.Checked) == want {
		return v.alreadySetResult(i), nil
	}
	a := action{view: v, index: i, doneText: "Set", techniques: []technique{v.byItemKey(i, "space")}}
	return a.untilItem(ctx, desktop.Checked, want)
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

// untilItem executes an action that should give or take the state of its item, and reads the state back.
func (a action) untilItem(ctx context.Context, state desktop.State, want bool) (*aai.Result, error) {
	id := a.id()
	a.verify = func(ctx context.Context) (string, bool) {
		is := !want
		_, err := a.pollUntil(ctx, wrongCeiling, func() (bool, error) {
			now, err := a.backend.Tree.Read(ctx, a.app, id)
			is = now.States.Has(state)
			return err == nil && is == want, err
		})
		if is == want || err != nil {
			return "", is == want
		}
		return "its state is as before", false
	}
	return a.execute(ctx)
}

// arrowTo returns the arrow key that moves the focus from element at towards element i if both are in one list,
// tree or table, in which tab does not move; else "". An element at that is the list itself has no current item,
// and "down" makes the first one current.
func (k *focusTracker) arrowTo(i, at int) string {
	list := k.itemList(i)
	if at < 0 || list < 0 || at < list || at >= k.snapshot.Elements[list].End || at > list && k.itemList(at) != list {
		return ""
	}
	is, to := k.snapshot.Elements[at].Frame, k.snapshot.Elements[i].Frame
	switch {
	case at == list:
		return "down"
	case is.Empty() || to.Empty() || !is.Intersect(to).Empty():
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
		}
	}
	return -1
}
