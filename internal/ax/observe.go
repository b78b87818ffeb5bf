package ax

import (
	"context"
	"slices"
	"time"

	"aai"
	"aai/internal/desktop"
	"aai/internal/desktop/delta"
)

// watch listens to the program; nil where nobody can.
func (a deed) watch(ctx context.Context) <-chan desktop.Event {
	if a.backend.Events == nil {
		return nil
	}
	events, err := a.backend.Events.Watch(ctx, a.app)
	if err != nil {
		return nil
	}
	return events
}

// observe waits until the effect of an action has come and settled, and returns
// what changed.
func (a deed) observe(ctx context.Context, before *desktop.Snapshot, events <-chan desktop.Event, focus desktop.ID, asked bool) (delta.Delta, error) {
	ceiling := time.NewTimer(effectCeiling)
	defer ceiling.Stop()
	looks := time.NewTicker(lookAgain) // some toolkits tell of nothing
	defer looks.Stop()
	idle := a.stillness(asked)
	defer idle.timer.Stop()
	var goes, loads time.Time // since when something seems to be about to go, a page to come
	for {
		late, look := false, desktop.Awaiting(ctx)
		select {
		case <-idle.timer.C:
			rests, twice := idle.ask()
			if late = twice && goes.IsZero() && loads.IsZero(); !rests {
				continue
			}
		case event, open := <-events:
			if !open {
				events = nil
				continue
			}
			if !telling(event) {
				continue
			}
			idle.rests = false
			settle(ctx, events)
		case <-looks.C:
			if idle.pressing() {
				continue
			}
		case <-ceiling.C:
			late, look = true, ctx
		case <-ctx.Done():
			return a.unreadable(ctx.Err())
		}
		if err := a.refresh(look); err != nil {
			return a.unreadable(err)
		}
		if a.shot.Version == before.Version && !late || a.loads(before, &loads) {
			continue
		}
		late = late || !loads.IsZero()
		delta := a.diff(before, focus)
		if !late && (!a.effective(before, delta) || a.emptied(before, delta) && within(&goes, goesWithin)) {
			continue
		}
		return delta, nil
	}
}

// within reports whether it is not longer than that since it was so for the first time.
func within(since *time.Time, long time.Duration) bool {
	if since.IsZero() {
		*since = time.Now()
	}
	return time.Since(*since) < long
}

// loads reports whether a page is on its way and to be waited for.
func (a deed) loads(before *desktop.Snapshot, since *time.Time) bool {
	return a.shot.Version != before.Version && a.loading(before) && within(since, loadsWithin)
}

// goesWithin is how long something is waited for to go that has lost its words.
const goesWithin = 2 * lookAgain

// loadsWithin is how long a page is waited for that has begun to come.
const loadsWithin = 3 * time.Second

// loading reports whether a page is on its way: the one that was there is gone, and what
// comes in its place has nothing to show yet.
func (a deed) loading(before *desktop.Snapshot) bool {
	had, fresh := false, false
	for i := range before.Elements {
		e := &before.Elements[i]
		had = had || e.Role == desktop.Document && e.States.Has(desktop.Showing) && a.shot.Index(e.ID) < 0
	}
	if !had {
		return false
	}
	for i := range a.shot.Elements {
		e := &a.shot.Elements[i]
		if e.Role != desktop.Document || before.Index(e.ID) >= 0 || !e.States.Has(desktop.Showing) {
			continue
		}
		if fresh = true; e.States.Has(desktop.Busy) || e.End == i+1 {
			return true
		}
	}
	return !fresh && len(a.shot.Children(-1)) > 0 && !a.closedWindow(before)
}

// closedWindow reports whether a window has gone.
func (a deed) closedWindow(before *desktop.Snapshot) bool {
	return slices.ContainsFunc(before.Children(-1), func(top int) bool { return a.shot.Index(before.Elements[top].ID) < 0 })
}

// emptied reports whether an element has lost its words, which in Chromium is how it
// begins to go.
func (a deed) emptied(before *desktop.Snapshot, d delta.Delta) bool {
	return slices.ContainsFunc(d.Changes, func(c delta.Change) bool {
		if c.Kind != delta.Changed || c.Restless {
			return false
		}
		now := &a.shot.Elements[c.Index]
		was := before.Index(now.ID)
		return was >= 0 && now.Name == "" && before.Elements[was].Name != ""
	})
}

// diff is what has changed since the snapshot, with what happened to one element
// first.
func (a deed) diff(before *desktop.Snapshot, focus desktop.ID) delta.Delta {
	return delta.Between(before, a.shot, delta.Options{Ref: a.ref, Focus: focus, Restless: a.unrest.Has})
}

// effective reports whether anything changed besides what changes by itself, what
// most programs do with whatever is pressed, and what the mode "focus" does by
// itself: the keyboard goes there.
func (a deed) effective(before *desktop.Snapshot, d delta.Delta) bool {
	acted := &desktop.Element{}
	if a.index >= 0 {
		acted = &before.Elements[a.index]
	}
	raised := slices.ContainsFunc(d.Changes, func(c delta.Change) bool {
		return keyboardMoved(before, a.shot, c) && a.shot.Elements[c.Index].States.Has(desktop.Active)
	})
	// What is restless is told last, so what is not told is restless too where
	// anything that is told is.
	more := d.More > 0 && !slices.ContainsFunc(d.Changes, func(c delta.Change) bool { return c.Restless })
	return more || slices.ContainsFunc(d.Changes, func(c delta.Change) bool {
		if c.Restless {
			return false
		}
		if !keyboardMoved(before, a.shot, c) {
			return true
		}
		switch now := &a.shot.Elements[c.Index]; {
		case now.Parent < 0:
			return false
		case now.ID == acted.ID:
			return takesText(acted)
		}
		return !raised
	})
}

// keyboardMoved reports whether the change is that the element, or window, has
// the keyboard now or no longer, and nothing else.
func keyboardMoved(before, after *desktop.Snapshot, c delta.Change) bool {
	if c.Kind != delta.Changed {
		return false
	}
	now := &after.Elements[c.Index]
	i := before.Index(now.ID)
	if i < 0 {
		return false
	}
	const keyboard = desktop.Focused | desktop.Active
	was := &before.Elements[i]
	return was.Name == now.Name && was.Value == now.Value && was.States&^keyboard == now.States&^keyboard
}

// unreadable is what is known when the program cannot be read after the action:
// it may have ended because of it, which is a change like another.
func (a deed) unreadable(err error) (delta.Delta, error) {
	e := *aai.AsError(err)
	if e.Code == aai.AppNotRunning {
		text := "- " + aai.CleanLabel(a.app.Name, 60) + " has ended"
		return delta.Delta{Text: text, Changes: []delta.Change{{Kind: delta.Gone, Index: -1, Text: text}}}, nil
	}
	e.Message = "it was delivered, but what it did was not seen: " + e.Message
	e.Delivery = aai.Delivered
	e.Hint = "Look at the program's state before you try again."
	return delta.Delta{}, &e
}

// telling reports whether an event may be the effect of an action, rather than
// the toolkit showing that it was asked.
func telling(e desktop.Event) bool {
	switch e.Kind {
	case desktop.CaretMoved, desktop.BoundsChanged:
		return false
	case desktop.StateChanged:
		return e.Detail != "focused" && e.Detail != "pressed" && e.Detail != "armed"
	}
	return true
}

// settle waits until no event has come for a moment.
func settle(ctx context.Context, events <-chan desktop.Event) {
	end := time.NewTimer(settleCeiling)
	defer end.Stop()
	for {
		select {
		case _, open := <-events:
			if !open {
				return
			}
		case <-time.After(quiet):
			return
		case <-end.C:
			return
		case <-ctx.Done():
			return
		}
	}
}
