package gui

import (
	"context"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// hoverTime is the minimum time for a page to notice the pointer: browsers report pointer moves
// once per frame, but execute accessibility actions at once.
const hoverTime = 50 * time.Millisecond

// items returns the menu or list item that is or contains the element of the action. The other items of its role
// there follow. nil if there is none.
func (a action) items(s *desktop.Snapshot) []int {
	i := a.index
	for ; i >= 0; i = s.Elements[i].Parent {
		role := s.Elements[i].Role
		if role.IsMenuItem() || role == desktop.Option || role == desktop.ListItem || role == desktop.TreeItem {
			break
		}
		if role.IsInteractive() || role.IsRefContainer() {
			return nil
		}
	}
	if i < 0 {
		return nil
	}
	items := []int{i}
	for p := s.Elements[i].Parent; len(items) == 1 && p >= 0 && s.Elements[p].Role != desktop.Document; p = s.Elements[p].Parent {
		for other := p + 1; other < s.Elements[p].End; other++ {
			apart := s.Elements[other].End <= i || other >= s.Elements[i].End
			if apart && s.Elements[other].Role == s.Elements[i].Role {
				items = append(items, other)
			}
		}
	}
	return items
}

// hoverItem moves the second pointer over the item of a page before the press, as a person's click
// does. Some menus (jQuery UI's) choose the last item under the pointer, whichever is clicked. It
// returns a snapshot from before the press; nil if the pointer was not moved.
func (a action) hoverItem(ctx context.Context) *desktop.Snapshot {
	if !a.app.IsBrowser || len(a.techniques) == 0 || !a.techniques[0].viaAccessibility || a.backend.Input == nil || len(a.items(a.Snapshot)) < 2 {
		return nil
	}
	w, err := a.windowOf(ctx, a.index)
	if err != nil {
		return nil
	}
	at, err := a.ClickPoint(a.index, w)
	if err != nil {
		return nil
	}
	over := a.windowToClick(ctx, w, at)
	for _, x := range []int{at.X - 1, at.X} { // the pointer may be there already
		if a.backend.Input.Scroll(ctx, desktop.OwnSeat, over, desktop.Point{X: x, Y: at.Y}, 0, 0) != nil {
			return nil
		}
	}
	_ = aai.Sleep(ctx, hoverTime)
	_, _ = a.pollUntil(ctx, effectCeiling, func() (bool, error) { return a.backend.Events == nil || a.backend.Events.IsIdle(a.app), nil })
	shot, err := a.backend.Tree.Snapshot(ctx, a.app)
	if err != nil || shot.Index(a.id()) < 0 {
		return nil
	}
	return shot
}

// chosenItem reports whether the first item was chosen, by its state or by its name in a field.
// Otherwise it returns the name of another item that was chosen.
func (a action) chosenItem(before *desktop.Snapshot, items []int) (own bool, other string) {
	values := make(map[string]bool) // new values of fields
	for i := range a.Snapshot.Elements {
		e := &a.Snapshot.Elements[i]
		if was := before.Index(e.ID); was >= 0 && e.Value != "" && e.Value != before.Elements[was].Value {
			values[folded(e.Value)] = true
		}
	}
	for n, i := range items {
		was, states, now := &before.Elements[i], desktop.Selected|desktop.Checked|desktop.Pressed, a.Snapshot.Index(before.Elements[i].ID)
		if n == 0 {
			states |= desktop.Expanded
		}
		changed := now >= 0 && a.Snapshot.Elements[now].Name == was.Name && (a.Snapshot.Elements[now].States^was.States)&states != 0 && (n == 0 || a.Snapshot.Elements[now].States.HasAny(states))
		for part := i; part < was.End; part++ {
			if name := before.Elements[part].Name; changed || values[folded(name)] {
				return n == 0, name
			}
		}
	}
	return false, ""
}

func folded(text string) string { return strings.ToLower(strings.TrimSpace(text)) }
