package gui

import (
	"context"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// scrollToField scrolls the match into view if needed, and notes that.
func (f *formFill) scrollToField(ctx context.Context, m match) match {
	m, brought := f.scrollIntoView(ctx, m)
	if brought {
		f.scrolledNames = append(f.scrolledNames, f.Name(m.index))
	}
	return m
}

// reportScrolled adds the scrolled elements to the text; they are not in the data.
func (f *formFill) reportScrolled(out *aai.Result) {
	if len(f.scrolledNames) > 0 {
		out.Text += "\nScrolled into view: " + strings.Join(f.scrolledNames, ", ") + "."
		out.DataComplete = false
	}
}

// asIfScrolled returns the earlier snapshot with the current visibility of each element, so that
// scrolling does not count as a change of the form.
func (f *formFill) asIfScrolled(before *desktop.Snapshot) *desktop.Snapshot {
	if len(f.scrolledNames) == 0 {
		return before
	}
	const view = desktop.Showing | desktop.Offscreen
	now := make(map[desktop.ID]desktop.State, len(f.Snapshot.Elements))
	for i := range f.Snapshot.Elements {
		now[f.Snapshot.Elements[i].ID] = f.Snapshot.Elements[i].States & view
	}
	shot := *before
	shot.Elements = append([]desktop.Element(nil), before.Elements...)
	for i := range shot.Elements {
		e := &shot.Elements[i]
		if is := now[e.ID]; is != 0 && e.States.HasAny(view) { // elements hidden for other reasons stay hidden
			e.States = e.States&^view | is
		}
	}
	return &shot
}
