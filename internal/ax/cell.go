package ax

import (
	"context"
	"fmt"
	"math"
	"strings"

	"aai"
	"aai/internal/desktop"
)

// setCell sets a cell of a table: by asking the program, or else by the keys that a
// person types into it.
func (v *view) setCell(ctx context.Context, i int, value string) (*aai.Result, error) {
	if b, is := blockAt(&v.shot.Elements[i], value); is {
		return v.setBlock(ctx, i, b)
	}
	before, err := v.read(ctx, v.shot.Elements[i].ID)
	if err != nil {
		return nil, err
	}
	if sameCell(before.Value, value) {
		return v.already(i), nil
	}
	a := deed{view: v, index: i, done: "Set"}
	a.ways = []way{v.byCellKeys(i, value)}
	if number := numberOr(value, math.NaN()); !math.IsNaN(number) { // a number needs no keys
		a.ways = append([]way{v.byAsking(i, "its value", desktop.Act{Verb: desktop.SetNumber, Number: number})}, a.ways...)
	}
	a.verify = func(ctx context.Context) (string, bool) {
		now, err := v.backend.Tree.Read(ctx, v.app, before.ID)
		switch {
		case err != nil:
			return "", false
		case sameCell(now.Value, value), strings.HasPrefix(value, "=") && now.Value != before.Value:
			return "", true
		}
		return fmt.Sprintf("it now holds %q", aai.CleanLabel(now.Value, 100)), false
	}
	return a.perform(ctx)
}

// sameCell reports whether a cell shows the value: a number may look otherwise there.
func sameCell(shown, value string) bool {
	return shown == value || numberOr(value, 0) != 0 && sameNumber(shown, numberOr(value, 0))
}

// byCellKeys is a way that clicks the cell and types into it.
func (v *view) byCellKeys(i int, value string) way {
	return v.byInput(i, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		if err := v.enterCell(ctx, i, input, seat, w); err != nil {
			return err
		}
		if value == "" {
			return v.writeCell(ctx, "", "", input, seat, w)
		}
		return v.writeCell(ctx, value, "return", input, seat, w)
	})
}

// enterCell makes the cell the one that keys go to: the cursor of a sheet goes there
// without its window coming to the front.
func (v *view) enterCell(ctx context.Context, i int, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
	at, err := v.point(i, w)
	if err != nil {
		return err
	}
	if seat == desktop.PersonSeat {
		return input.Click(ctx, seat, w.ID, at, desktop.LeftButton, 1)
	}
	if v.backend.Actor == nil {
		return unsupported("actions on elements")
	}
	id := v.shot.Elements[i].ID
	if err := v.backend.Actor.Perform(ctx, v.app, id, desktop.Act{Verb: desktop.TakeFocus}); err != nil {
		return err
	}
	if focused, err := v.becomesFocused(ctx, id); focused || err != nil {
		return err
	}
	return &aai.Error{
		Code: aai.AutomationNotSupported, Delivery: aai.NotDelivered,
		Message: v.name(i) + " does not take the keyboard in the background",
	}
}

// sheetCell reports whether the element is a cell that one writes in: a click puts the
// cursor there, and what is typed next goes to it. To select it leaves the cursor, and the
// next key, where they were.
func sheetCell(e *desktop.Element) bool {
	return e.Role == desktop.Cell && e.States.Has(desktop.Editable|desktop.Focusable) && len(e.Actions) == 0
}

// cellNow reads a cell anew by its place: with the cursor LibreOffice's cells become
// others, and those that were go on saying what they said.
func (v *view) cellNow(ctx context.Context, was desktop.Element, table desktop.ID) (desktop.Element, error) {
	if err := v.refresh(ctx); err != nil {
		return was, err
	}
	for i := range v.shot.Elements {
		e := &v.shot.Elements[i]
		if e.Role == desktop.Cell && e.Name == was.Name && e.Parent >= 0 && v.shot.Elements[e.Parent].ID == table {
			return v.read(ctx, e.ID)
		}
	}
	return v.read(ctx, was.ID)
}

// typedCell checks by reading back that a cell holds what was typed. A cell that is being
// written in yet, or that shows its value in its own way, is not known to be wrong.
func (v *view) typedCell(i int, before desktop.Element, text string) func(context.Context) (string, bool) {
	table := desktop.ID("")
	if up := v.shot.Elements[i].Parent; up >= 0 {
		table = v.shot.Elements[up].ID
	}
	return func(ctx context.Context) (string, bool) {
		now, err := v.cellNow(ctx, before, table)
		return "", err == nil && now.Value != before.Value && sameCell(now.Value, normalized(text))
	}
}
