package gui

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/delta"
	"github.com/gybob/aai-gateway/internal/gui/screenshot"
	"github.com/gybob/aai-gateway/internal/gui/watch"
)

// subscribe returns the program's events; nil if the backend has none.
func (v *view) subscribe(ctx context.Context) <-chan desktop.Event {
	if v.backend.Events == nil {
		return nil
	}
	events, err := v.backend.Events.Watch(ctx, v.app)
	if err != nil {
		return nil
	}
	return events
}

// observe waits until the effect of an action has appeared and settled, and returns the changes since before, those
// of the element focus first. asked means that the action was an accessibility action.
func (a action) observe(ctx context.Context, before *desktop.Snapshot, events <-chan desktop.Event, focus desktop.ID, asked bool) (delta.Delta, error) {
	ceiling := time.NewTimer(effectCeiling)
	defer ceiling.Stop()
	looks := time.NewTicker(watch.PollInterval) // some toolkits report no events
	defer looks.Stop()
	still := a.newSettleProbe(asked)
	defer still.timer.Stop()
	var goes, loads time.Time // since when an element seems about to vanish, or a page to load
	for {
		late, look := false, desktop.WithPendingEffect(ctx)
		select {
		case <-still.timer.C:
			sleeps, rests := still.probe()
			if late = rests && goes.IsZero() && loads.IsZero(); !sleeps {
				continue
			}
		case event, open := <-events:
			if !open {
				events = nil
				continue
			}
			if !watch.MayBeEffect(event) {
				continue
			}
			still.rest.idle = false
			watch.Settle(ctx, events)
		case <-looks.C:
			if still.pressing() {
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
		if a.snapshot.Version == before.Version && !late || a.awaitsPage(before, &loads) {
			continue
		}
		late = late || !loads.IsZero()
		delta := a.diff(before, focus)
		begins := a.lostName(before, delta) || a.retitled(before, delta)
		if !late && (!a.hasEffect(before, delta) || begins && within(&goes, goesWithin)) {
			continue
		}
		return delta, nil
	}
}

// within reports whether less than long has passed since *since, which it sets to now if it is zero.
func within(since *time.Time, long time.Duration) bool {
	if since.IsZero() {
		*since = time.Now()
	}
	return time.Since(*since) < long
}

// awaitsPage reports whether a page is loading and still worth the wait.
func (a action) awaitsPage(before *desktop.Snapshot, since *time.Time) bool {
	return a.snapshot.Version != before.Version && (a.isPageLoading(before) || a.isTitleAhead(before)) && within(since, loadsWithin)
}

// isTitleAhead reports whether a browser window's title differs from its page's name, unlike
// before. On a busy computer the next page's title comes long before the page.
func (a action) isTitleAhead(before *desktop.Snapshot) bool {
	return a.app.IsBrowser && calledAsPage(before) && !calledAsPage(a.snapshot)
}

// calledAsPage reports whether the name of each visible page is part of its window's title.
func calledAsPage(s *desktop.Snapshot) bool {
	for i := 0; i < len(s.Elements); i++ {
		e := &s.Elements[i]
		if e.Role != desktop.Document || !e.States.Has(desktop.Showing) {
			continue
		}
		if e.Parent >= 0 && e.Name != "" && !strings.Contains(s.Elements[s.WindowOf(i)].Name, e.Name) {
			return false
		}
		i = e.End - 1 // the documents inside are pages within a page
	}
	return true
}

// goesWithin is how long to wait for an element to vanish after it lost its text.
const goesWithin = 2 * watch.PollInterval

// loadsWithin is how long to wait for a page that has begun to load.
const loadsWithin = 3 * time.Second

// isPageLoading reports whether a page is loading: the old page is gone or has become empty, and
// its successor has nothing to show yet. A dialog replaces no page, although Chromium removes the
// page behind its dialog.
func (a action) isPageLoading(before *desktop.Snapshot) bool {
	had, fresh := false, false
	for i := range before.Elements {
		e := &before.Elements[i]
		if e.Role != desktop.Document || !e.States.Has(desktop.Showing) {
			continue
		}
		now := a.snapshot.Index(e.ID)
		if now >= 0 && a.snapshot.Elements[now].States.Has(desktop.Showing) && hasContent(before, i) && !hasContent(a.snapshot, now) {
			return true
		}
		had = had || now < 0
	}
	if !had {
		return false
	}
	for i := range a.snapshot.Elements {
		e := &a.snapshot.Elements[i]
		if before.Index(e.ID) >= 0 || !e.States.Has(desktop.Showing) {
			continue
		}
		if e.Role == desktop.Dialog || e.Role == desktop.AlertDialog {
			return false
		}
		if e.Role != desktop.Document {
			continue
		}
		if fresh = true; e.States.Has(desktop.Busy) || e.End == i+1 {
			return true
		}
	}
	return !fresh && len(a.snapshot.Children(-1)) > 0 && !a.closedWindow(before)
}

// hasContent reports whether an element inside the document is showing.
func hasContent(s *desktop.Snapshot, document int) bool {
	for i := document + 1; i < s.Elements[document].End; i++ {
		if s.Elements[i].States.Has(desktop.Showing) {
			return true
		}
	}
	return false
}

// closedWindow reports whether a window has closed.
func (a action) closedWindow(before *desktop.Snapshot) bool {
	return slices.ContainsFunc(before.Children(-1), func(top int) bool { return a.snapshot.Index(before.Elements[top].ID) < 0 })
}

// lostName reports whether an element has lost its name, which in Chromium is the first step of its
// removal.
func (a action) lostName(before *desktop.Snapshot, d delta.Delta) bool {
	return slices.ContainsFunc(d.Changes, func(c delta.Change) bool {
		if c.Kind != delta.Changed || c.Ambient {
			return false
		}
		now := &a.snapshot.Elements[c.Index]
		was := before.Index(now.ID)
		return was >= 0 && now.Name == "" && before.Elements[was].Name != ""
	})
}

// retitled reports whether only the title of a browser's window changed, which may be the start of
// another page.
func (a action) retitled(before *desktop.Snapshot, d delta.Delta) bool {
	return a.app.IsBrowser && d.Omitted == 0 && !slices.ContainsFunc(d.Changes, func(c delta.Change) bool {
		return !c.Ambient && (c.Kind != delta.Changed || a.snapshot.Elements[c.Index].Parent >= 0) && !keyboardMoved(before, a.snapshot, c)
	})
}

// diff returns the changes since the snapshot, those of the focus element first. Changes of a browser never count as
// lagging: the status of a page reports results at once.
func (a action) diff(before *desktop.Snapshot, focus desktop.ID) delta.Delta {
	return delta.Between(before, a.snapshot, delta.Options{Ref: a.ref, Focus: focus, IsAmbient: a.ambientChanges.Has, Lagging: a.ambientChanges.FollowsRecentAction() && !a.app.IsBrowser})
}

// hasEffect reports whether anything changed except ambient changes, changes that most programs
// make for any press, and the focus move of the mode "focus".
func (a action) hasEffect(before *desktop.Snapshot, d delta.Delta) bool {
	acted := &desktop.Element{}
	if a.index >= 0 {
		acted = &before.Elements[a.index]
	}
	raised := slices.ContainsFunc(d.Changes, func(c delta.Change) bool {
		return keyboardMoved(before, a.snapshot, c) && a.snapshot.Elements[c.Index].States.Has(desktop.Active)
	})
	// The delta lists ambient changes last, so omitted changes are ambient too if any listed one
	// is.
	more := d.Omitted > 0 && !slices.ContainsFunc(d.Changes, func(c delta.Change) bool { return c.Ambient })
	return more || slices.ContainsFunc(d.Changes, func(c delta.Change) bool {
		if c.Ambient || isOnlyStateChange(before, a.snapshot, c, desktop.Busy) && !a.snapshot.Elements[c.Index].States.Has(desktop.Busy) {
			return false // the page was loading before the action
		}
		if !keyboardMoved(before, a.snapshot, c) {
			return true
		}
		switch now := &a.snapshot.Elements[c.Index]; {
		case now.Parent < 0:
			return false
		case now.ID == acted.ID:
			return takesText(acted)
		case a.encloses(now.ID, before) && !now.States.Has(desktop.Editable):
			return false // of nested pages, the outer one is reported first
		}
		return !raised
	})
}

// encloses reports whether the element with the ID encloses the action's element.
func (a action) encloses(id desktop.ID, before *desktop.Snapshot) bool {
	i := before.Index(id)
	return i >= 0 && i < a.index && a.index < before.Elements[i].End
}

// keyboardMoved reports whether the change is only that the element or window gained or lost the
// keyboard.
func keyboardMoved(before, after *desktop.Snapshot, c delta.Change) bool {
	return isOnlyStateChange(before, after, c, desktop.Focused|desktop.Active)
}

// isOnlyStateChange reports whether c changes at least one of the states in but, and nothing else. A change without
// any of them is another one, such as a new order of the children.
func isOnlyStateChange(before, after *desktop.Snapshot, c delta.Change, but desktop.State) bool {
	if c.Kind != delta.Changed {
		return false
	}
	now := &after.Elements[c.Index]
	i := before.Index(now.ID)
	if i < 0 {
		return false
	}
	was := &before.Elements[i]
	return (was.States^now.States)&but != 0 && was.Name == now.Name && was.Value == now.Value && was.States&^but == now.States&^but
}

// unreadable returns the delta or error for a program that cannot be read after the action. If the
// program has ended, that is a change too.
func (a action) unreadable(err error) (delta.Delta, error) {
	e := *aai.AsError(err)
	if e.Code == aai.AppNotRunning {
		text := "- " + aai.CleanLabel(a.app.Name, 60) + " has ended"
		return delta.Delta{Text: text, Changes: []delta.Change{{Kind: delta.Gone, Index: -1, Text: text}}}, nil
	}
	e.Message = "it was delivered, but its effect was not seen: " + e.Message
	e.Delivery = aai.Delivered
	e.Hint = "Look at the program's state before you try again."
	return delta.Delta{}, &e
}

// watchWindow turns on screenshot comparison for the window that receives input.
func (v *view) watchWindow() {
	if v.backend.Screen != nil && v.backend.Windows != nil {
		v.screenWatcher = screenshot.NewWatcher(v.backend.Screen, v.backend.Windows)
	}
}

// watchCanvas calls watchWindow for a canvas, where pixels may be the only visible effect.
func (v *view) watchCanvas(i int) {
	if i >= 0 && v.snapshot.Elements[i].Role == desktop.Canvas {
		v.watchWindow()
	}
}

// withRowPicture makes techniques compare screenshots of the row of element i. Most pages mark the chosen row of a plain
// table by its color alone. The rest of the window is not compared: carets blink there.
func (v *view) withRowPicture(i int, ways []technique) []technique {
	row := v.unselectableRow(i)
	if row < 0 || v.inDevTools(i) || v.backend.Screen == nil || v.backend.Windows == nil {
		return ways
	}
	watcher := screenshot.NewWatcher(v.backend.Screen, v.backend.Windows).Within(v.snapshot.Elements[row].Frame)
	for n, way := range ways {
		ways[n].do = func(ctx context.Context) error {
			if w, err := v.windowOf(ctx, row); err == nil {
				v.screenWatcher = watcher
				watcher.Begin(ctx, w)
			}
			return way.do(ctx)
		}
	}
	return ways
}

// unselectableRow returns the row of a page's table that is or contains element i and does not report whether it is
// selected; -1 if there is none.
func (v *view) unselectableRow(i int) int {
	for ; i >= 0 && v.app.IsBrowser; i = v.snapshot.Elements[i].Parent {
		e := &v.snapshot.Elements[i]
		switch {
		case e.Role == desktop.Row && !e.States.HasAny(desktop.Selectable|desktop.Selected):
			return i
		case e.Role != desktop.Cell || e.States.HasAny(desktop.Selectable|desktop.Selected|desktop.Editable):
			return -1
		}
	}
	return -1
}

// visualChange describes the change of the screenshot; "" if there is none, or no screenshot.
func (a action) visualChange(ctx context.Context) string {
	if a.screenWatcher == nil {
		return ""
	}
	return a.screenWatcher.Changed(ctx, a.app)
}

// reportVisualChange describes a change of the screenshot for the reply, if the tree shows none.
func (a action) reportVisualChange(ctx context.Context, result *actionResult) string {
	if result.Verified || a.verify != nil {
		return ""
	}
	text := a.visualChange(ctx)
	if text == "" {
		return ""
	}
	result.Verified, result.Changes = true, append(result.Changes, text)
	return " What changed: " + text + "."
}
