package ax

import (
	"context"
	"strings"

	"aai"
	"aai/internal/ax/operate"
	"aai/internal/desktop"
)

// bring scrolls into view what is out of it, and notes that.
func (f *filling) bring(ctx context.Context, m operate.Match) operate.Match {
	m, brought := f.Bring(ctx, m)
	if brought {
		f.brought = append(f.brought, f.Name(m.Index))
	}
	return m
}

// tellBrought says what was brought into view, which is not in the data.
func (f *filling) tellBrought(out *aai.Result) {
	if len(f.brought) > 0 {
		out.Text += "\nOut of view, and scrolled into it: " + strings.Join(f.brought, ", ") + "."
		out.Whole = false
	}
}

// scrolled is what was seen before as if it had been scrolled to where it is now: that things
// came into view by it, or went out of it, is no change of the form.
func (f *filling) scrolled(before *desktop.Snapshot) *desktop.Snapshot {
	if len(f.brought) == 0 {
		return before
	}
	const view = desktop.Showing | desktop.Offscreen
	now := make(map[desktop.ID]desktop.State, len(f.Shot.Elements))
	for i := range f.Shot.Elements {
		now[f.Shot.Elements[i].ID] = f.Shot.Elements[i].States & view
	}
	shot := *before
	shot.Elements = append([]desktop.Element(nil), before.Elements...)
	for i := range shot.Elements {
		e := &shot.Elements[i]
		if is := now[e.ID]; is != 0 && e.States.Any(view) { // what is hidden, not by scrolling, stays so
			e.States = e.States&^view | is
		}
	}
	return &shot
}
