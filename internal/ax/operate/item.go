package operate

import (
	"context"
	"strings"
	"time"

	"aai"
	"aai/internal/desktop"
)

// hoverTime is how long a page takes at least to hear of the pointer: browsers report its
// moves once a frame, and act for accessibility at once.
const hoverTime = 50 * time.Millisecond

// items returns the item of a menu or list that the deed is about, and then the others
// of its kind there; nil if it is about none. The deed may be about the words of the item.
func (a Deed) items(s *desktop.Snapshot) []int {
	i := a.Index
	for ; i >= 0; i = s.Elements[i].Parent {
		role := s.Elements[i].Role
		if role.MenuEntry() || role == desktop.Option || role == desktop.ListItem || role == desktop.TreeItem {
			break
		}
		if role.Interactive() || role.Holds() {
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

// pointAt moves the second pointer over the item of a page that the program is to be asked to
// press, as a person's click does: some menus choose the item that the pointer was over last,
// whichever is clicked (jQuery UI's). It returns a snapshot from before the press; nil if the
// pointer was not moved.
func (a Deed) pointAt(ctx context.Context) *desktop.Snapshot {
	if !a.App.Browser || len(a.Ways) == 0 || !a.Ways[0].Asks || a.Backend.Input == nil || len(a.items(a.Shot)) < 2 {
		return nil
	}
	w, err := a.WindowOf(ctx, a.Index)
	if err != nil {
		return nil
	}
	at, err := a.Point(a.Index, w)
	if err != nil {
		return nil
	}
	over := a.Over(ctx, w, at)
	for _, x := range []int{at.X - 1, at.X} { // it may be there already
		if a.Backend.Input.Scroll(ctx, desktop.OwnSeat, over, desktop.Point{X: x, Y: at.Y}, 0, 0) != nil {
			return nil
		}
	}
	_ = aai.Pause(ctx, hoverTime)
	_, _ = a.Until(ctx, EffectCeiling, func() (bool, error) { return a.Backend.Events == nil || a.Backend.Events.Idle(a.App), nil })
	shot, err := a.Backend.Tree.Snapshot(ctx, a.App)
	if err != nil || shot.Index(a.id()) < 0 {
		return nil
	}
	return shot
}

// chosen reports whether the first of the items was seen to be chosen, by its state or by its
// name in a field, or else the name of another that was.
func (a Deed) chosen(before *desktop.Snapshot, items []int) (own bool, other string) {
	values := make(map[string]bool) // that fields have got
	for i := range a.Shot.Elements {
		e := &a.Shot.Elements[i]
		if was := before.Index(e.ID); was >= 0 && e.Value != "" && e.Value != before.Elements[was].Value {
			values[folded(e.Value)] = true
		}
	}
	for n, i := range items {
		was, states, now := &before.Elements[i], desktop.Selected|desktop.Checked|desktop.Pressed, a.Shot.Index(before.Elements[i].ID)
		if n == 0 {
			states |= desktop.Expanded
		}
		changed := now >= 0 && a.Shot.Elements[now].Name == was.Name && (a.Shot.Elements[now].States^was.States)&states != 0 && (n == 0 || a.Shot.Elements[now].States.Any(states))
		for part := i; part < was.End; part++ {
			if name := before.Elements[part].Name; changed || values[folded(name)] {
				return n == 0, name
			}
		}
	}
	return false, ""
}

func folded(text string) string { return strings.ToLower(strings.TrimSpace(text)) }
