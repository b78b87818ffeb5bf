package gui

import (
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
)

// isToggleCell reports whether the element is a cell with a check box, as in GTK 3. The space key ticks it; its action
// would activate the row.
func isToggleCell(e *desktop.Element) bool {
	return e.Role == desktop.Cell && e.States.Has(desktop.Checkable)
}

// toggleBeside returns the only cell with a check box in the row of cell i if the value is true or false; else -1.
func (v *view) toggleBeside(i int, value string) int {
	e, found := &v.snapshot.Elements[i], -1
	isBool := strings.EqualFold(value, "true") || strings.EqualFold(value, "false")
	if !isBool || e.Role != desktop.Cell || e.Parent < 0 || e.States.Has(desktop.Editable) || e.Frame.Empty() {
		return -1
	}
	for _, other := range v.snapshot.Children(e.Parent) {
		o := &v.snapshot.Elements[other]
		if !isToggleCell(o) || o.Frame.Y != e.Frame.Y || o.Frame.H != e.Frame.H {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = other
	}
	return found
}

// markSelected records that the selection of cell i left the keyboard of its table at another row.
func (v *view) markSelected(i int, out *aai.Result) {
	done, _ := out.Data.(actionResult)
	if v.app.KeepsCursor && v.snapshot.Elements[i].Role == desktop.Cell && done.Way == bySelection {
		v.engine.Sessions.For(v.call).MarkTarget(v.snapshot.Elements[i].ID)
	}
}

// checkCursor returns an error if the key would act on another row of a table than the one that the last action
// selected.
func (v *view) checkCursor(chord desktop.Chord) error {
	key := strings.ToLower(chord.Key)
	i := v.snapshot.Index(v.engine.Sessions.For(v.call).LastTarget())
	if i < 0 || v.snapshot.Elements[i].Role != desktop.Cell || len(chord.Modifiers) > 0 || key == "tab" || key == "escape" {
		return nil
	}
	if states := v.snapshot.Elements[i].States; states.Has(desktop.Focused) || !states.Has(desktop.Selected) {
		return nil
	}
	e := guierr.Failed(aai.NotDelivered, "%s is selected, and the keyboard is at another row, on which the key would act", v.name(i))
	aai.AsError(e).Hint = "ax_set_value with true or false ticks a check box in its row. ax_key_press with the item as query moves the keyboard there first."
	return e
}
