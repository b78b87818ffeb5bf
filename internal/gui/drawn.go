package gui

import (
	"context"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
	"github.com/gybob/aai-gateway/internal/gui/params"
)

// Some elements take keys and report no text: sheets, lists, and widgets that draw their content. Text is typed into them
// key by key, each after a look at the focus, and the effect is judged by what changes in the tree or the picture.

// takesKeys reports whether text for the element is typed as single keys, because it reports no text.
func takesKeys(e *desktop.Element) bool {
	switch e.Role {
	case desktop.Canvas:
		return true
	case desktop.Grid, desktop.Table, desktop.Cell, desktop.Row, desktop.Listbox, desktop.List, desktop.Option, desktop.ListItem,
		desktop.TreeView, desktop.TreeItem, desktop.Generic, desktop.Group, desktop.Image:
		return e.States.Has(desktop.Focusable) && !e.States.Has(desktop.Editable)
	}
	return false
}

// noClearing returns the error for clear_first in an element that reports no text.
func (v *view) noClearing(i int) error {
	e := aai.Errorf(aai.InvalidParams, "clear_first: %s reports no text", v.name(i))
	e.Delivery, e.Hint = aai.NotDelivered, "Clear it by keys, with ax_key_press."
	return e
}

// textsPressedByKeys reports whether the call types a text into the element by single keys, and returns the texts of
// elements that these may press.
func (v *view) textsPressedByKeys(i int) (says []string, are bool) {
	if i < 0 || !params.Has(v.call, "text") || !takesKeys(&v.snapshot.Elements[i]) {
		return nil, false
	}
	seen := make(map[rune]bool)
	for _, r := range v.inputText() {
		if key := string(r); !seen[r] {
			seen[r] = true
			switch r {
			case '\n', '\r':
				key = "return"
			case '\t':
				key = "tab"
			case ' ':
				key = "space"
			}
			says = append(says, v.textsPressedBy(desktop.Chord{Key: key}, i)...)
		}
	}
	return says, true
}

// awaitKeys waits until the program has handled the keys typed before, if they are single keys for an element that
// reports no text: each may move the focus or open a dialog, which would get the next key. It returns an error if a
// window opened that was not among those before. The program handles a key in the turn of its loop in which it answers
// the first read, or before.
func (l focusCheckedInput) awaitKeys(ctx context.Context, typed int, before map[desktop.ID]bool) error {
	v, i := l.view, l.target()
	if typed == 0 || i < 0 || !takesKeys(&v.snapshot.Elements[i]) {
		return nil
	}
	for range 2 {
		if _, err := v.backend.Tree.Read(ctx, v.app, v.snapshot.Elements[i].ID); err != nil {
			return err
		}
	}
	if err := v.refresh(ctx); err != nil {
		return err
	}
	for id := range v.topLevels() {
		if !before[id] {
			return guierr.Failed(aai.NotDelivered, "%s opened", v.name(v.snapshot.Index(id)))
		}
	}
	return nil
}

// topLevels returns the windows of the program that show.
func (v *view) topLevels() map[desktop.ID]bool {
	shown := make(map[desktop.ID]bool)
	for i := 0; i < len(v.snapshot.Elements); i = max(v.snapshot.Elements[i].End, i+1) {
		if v.snapshot.IsVisible(i) {
			shown[v.snapshot.Elements[i].ID] = true
		}
	}
	return shown
}
