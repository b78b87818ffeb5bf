package gui

import (
	"context"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
)

// Qt shows a text field in the place of a cell while people edit it: F2 opens the field, and return ends the edit. In
// a cell that cannot be edited F2 does nothing. GTK 3 has such a field too, but not in its accessibility tree.

// byCellEditor returns a technique that writes into the field of a cell that is being edited. The window keeps the
// keyboard meanwhile: a field that loses it closes.
func (v *view) byCellEditor(i int, value string) technique {
	cell := v.snapshot.Elements[i].Frame
	return v.byKeys(i, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		if strings.ContainsAny(value, "\n\r\t") {
			return aai.Errorf(aai.InvalidParams, "value: %s expects one line without tabs", v.name(i))
		}
		if err := v.focusWithoutPress(ctx, i, input, seat, w); err != nil {
			return err
		}
		return input.WithKeyboard(ctx, seat, w.ID, func(ctx context.Context, keys desktop.Input) error {
			watching, cancel := context.WithCancel(ctx)
			defer cancel()
			k := &focusTracker{view: v, events: v.subscribe(watching)}
			edit := func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
				return input.Key(ctx, seat, w.ID, desktop.Chord{Key: "f2"})
			}
			if err := v.withFocusCheck(i, edit)(ctx, keys, seat, w); err != nil {
				return err
			}
			if err := v.awaitCellEditor(ctx, k, cell); err != nil {
				return err
			}
			if err := keys.Key(ctx, seat, w.ID, desktop.Chord{Key: "a", Modifiers: []string{"ctrl"}}); err != nil {
				return err
			}
			if value == "" {
				if err := keys.Key(ctx, seat, w.ID, desktop.Chord{Key: "delete"}); err != nil {
					return err
				}
			} else if err := keys.Type(ctx, seat, w.ID, value); err != nil {
				return err
			}
			return keys.Key(ctx, seat, w.ID, desktop.Chord{Key: "return"})
		})
	})
}

// awaitCellEditor waits until a text field in the cell's place has the keyboard, which is in no tree.
func (v *view) awaitCellEditor(ctx context.Context, k *focusTracker, cell desktop.Rect) error {
	has, err := v.pollUntil(ctx, effectCeiling, func() (bool, error) {
		k.drainEvents()
		if k.lastFocused == "" || v.snapshot.Index(k.lastFocused) >= 0 {
			return false, nil
		}
		e, err := v.backend.Tree.Read(ctx, v.app, k.lastFocused)
		return err == nil && e.Role == desktop.Textbox && !e.States.Has(desktop.Protected) && !e.Frame.Intersect(cell).Empty(), nil
	})
	if err == nil && !has {
		err = &aai.Error{Code: aai.AutomationNotSupported, Delivery: aai.DeliveryUnknown, Message: "F2 was pressed, and the cell opened no editor"}
	}
	return err
}

// hasCellEditor reports whether the element is a cell that may have an editor.
func (v *view) hasCellEditor(i int) bool {
	e := &v.snapshot.Elements[i]
	return v.app.HasSetFocus && e.Role == desktop.Cell && !e.States.Has(desktop.Editable) && v.itemList(i) >= 0
}

// cellText returns the text of a cell. Cells of a sheet are named by their place, others may be named by their text.
func cellText(e *desktop.Element) string {
	if e.Value == "" && !fieldtext.IsSheetCell(e) {
		return e.Name
	}
	return e.Value
}
