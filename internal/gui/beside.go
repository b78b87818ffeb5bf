package gui

import (
	"cmp"
	"slices"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/params"
)

// A label may belong to a control although nothing relates the two, and their places do not tell it for
// certain. Such a control has no name, and a caller that gives the label gets it as a candidate.

// maxBeside is the maximum gap between a label and such a control, in pixels.
const maxBeside = 60

// withControlsBeside adds the controls without a name beside a label to the error of an act on the label.
func (v *view) withControlsBeside(i int, err error) error {
	e := aai.AsError(err)
	if err == nil || i < 0 || !v.snapshot.Elements[i].Role.IsTextual() || e.Delivery != aai.NotDelivered || len(e.Candidates) > 0 {
		return err
	}
	said, near := *e, v.controlsBeside(i)
	if params.Has(v.call, "text") {
		near = slices.DeleteFunc(near, func(c int) bool { return !takesText(&v.snapshot.Elements[c]) && v.comboField(c) < 0 })
	}
	said.Candidates = v.candidates(near)
	return &said
}

// controlsBeside returns the controls without a name beside a label, the nearest first.
func (v *view) controlsBeside(label int) []int {
	l, window := v.snapshot.Elements[label].Frame, v.snapshot.WindowOf(label)
	var near []int
	gap := make(map[int]int)
	for i, next := window, 0; i < v.snapshot.Elements[window].End; i = next {
		e := &v.snapshot.Elements[i]
		if next = i + 1; e.Role == desktop.Combobox {
			next = e.End // without the field inside it
		}
		if !desktop.IsBlank(e.Name) || !isLabelled(e) || e.Frame.Empty() || l.Empty() || !v.snapshot.IsVisible(i) || v.document(i) != v.document(label) {
			continue
		}
		if gap[i] = gapBetween(l, e.Frame); gap[i] <= maxBeside {
			near = append(near, i)
		}
	}
	slices.SortStableFunc(near, func(a, b int) int { return cmp.Compare(gap[a], gap[b]) })
	return near[:min(len(near), 3)]
}

// isLabelled reports whether people tell the element by a label beside it.
func isLabelled(e *desktop.Element) bool {
	switch e.Role {
	case desktop.Textbox, desktop.Searchbox, desktop.Spinbutton, desktop.Slider, desktop.Combobox, desktop.Checkbox, desktop.Radio, desktop.Switch:
		return true
	}
	return e.Role == desktop.Button && e.States.Has(desktop.Checkable)
}

// gapBetween returns the horizontal gap between the frames, and twice the vertical one: people read by rows.
func gapBetween(a, b desktop.Rect) int {
	across := max(a.X, b.X) - min(a.X+a.W, b.X+b.W)
	down := max(a.Y, b.Y) - min(a.Y+a.H, b.Y+b.H)
	return max(across, 0) + 2*max(down, 0)
}
