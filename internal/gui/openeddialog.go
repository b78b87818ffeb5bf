package gui

import (
	"context"
	"slices"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// dialogAppears is how long a browser may take to report a dialog that has the keyboard.
const dialogAppears = 500 * time.Millisecond

// withOpenedDialog adds the dialog that opened during an action to the error of the action, if it had begun: the
// dialog took the keyboard.
func (a action) withOpenedDialog(ctx context.Context, before *desktop.Snapshot, err error) error {
	e := aai.AsError(err)
	if e == nil || e.Delivery == aai.NotDelivered {
		return err
	}
	opened := -1
	if _, failed := a.pollUntil(ctx, dialogAppears, func() (bool, error) {
		if err := a.refresh(ctx); err != nil {
			return false, err
		}
		opened = slices.IndexFunc(a.snapshot.Elements, func(d desktop.Element) bool {
			return (d.Role == desktop.Dialog || d.Role == desktop.AlertDialog) && d.States.Has(desktop.Showing) && before.Index(d.ID) < 0
		})
		return opened >= 0, nil
	}); failed != nil || opened < 0 {
		return err
	}
	with := *e
	with.Message += "; meanwhile the " + a.name(opened) + " opened"
	with.Hint = "Answer or close that dialog first, then read the element's value before you try again."
	return &with
}
