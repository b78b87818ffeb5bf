package delta

import (
	"time"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// How unrest is told from what an action brings about, at once or later.
const (
	// effectTime is for how long the effects of many actions may still come; those of
	// the last two may come later.
	effectTime = 10 * time.Second
	// ambientTime is for how long something that changed by itself is expected to do
	// so again.
	ambientTime = 5 * time.Minute
	// settledAfter is how long something stands still at least that has come to rest.
	settledAfter = 2 * time.Second
	// stillTime is how long something must have stood still for its change at an action
	// to be the action's.
	stillTime = 200 * time.Millisecond
)

// An Unrest remembers what of an app changes by itself, such as a clock or a list
// of messages, so that it is not taken for the effect of an action. It learns from
// what differs between one look and the next while nobody acts. Each action may be
// the cause of one such change of an element, which comes late: a counter that only
// actions change never changes more often than there were actions. What does is
// unrest. The zero Unrest knows nothing. It is not safe for concurrent use.
type AmbientChanges struct {
	last  *desktop.Snapshot
	acts  []time.Time // when actions began that may still have effects
	known map[desktop.ID]ambientChange
}

// An Aspect is what of an element changes: one that has lost the keyboard by itself is
// selected because of an action all the same. It is a set of states and of [Content].
type Aspect uint64

// Content is an element's name, its value and which children it has, in which order.
const Content Aspect = 1 << 63

// A suspect is an element that has changed, or its children came and went, while
// nobody acted.
type ambientChange struct {
	aspect         Aspect
	changed        time.Time     // when it last did
	pendingEffects int           // actions whose late effect on it may still come
	unchangedFor   time.Duration // seen without a change since it last had one
	spontaneous    bool          // it changed more often than actions explain
	gap            time.Duration // the longest between two of its changes; 0 where there was one alone
}

// Observe learns from a snapshot that was taken before anybody acted again.
func (u *AmbientChanges) Observe(s *desktop.Snapshot) {
	before := u.last
	u.last = s
	if before == nil {
		return
	}
	changed := diffAspects(before, s)
	for id, e := range u.known {
		switch {
		case s.Taken.Sub(e.changed) > ambientTime:
			delete(u.known, id)
		case changed[id] == 0:
			e.unchangedFor += s.Taken.Sub(before.Taken)
			u.known[id] = e
		}
	}
	for id, aspect := range changed {
		e, known := u.known[id]
		if known {
			e.gap = max(e.gap, s.Taken.Sub(e.changed))
		}
		if owed := u.pendingActions(s.Taken); !known || e.pendingEffects > owed {
			e.pendingEffects = owed
		}
		e.spontaneous = e.spontaneous || e.pendingEffects == 0
		e.aspect |= aspect
		e.pendingEffects, e.unchangedFor, e.changed = max(e.pendingEffects-1, 0), 0, s.Taken
		if u.known == nil {
			u.known = make(map[desktop.ID]ambientChange)
		}
		u.known[id] = e
	}
}

// lagTime is for how long a status bar's number, or a tool bar, may follow an action that changed
// what it shows: LibreOffice counts words when it has nothing else to do.
const lagTime = 3 * time.Second

// IsLagging reports whether another action began shortly before the last one did.
func (u *AmbientChanges) IsLagging() bool {
	n := len(u.acts)
	return n > 1 && u.acts[n-1].Sub(u.acts[n-2]) < lagTime
}

// pendingActions is how many actions may still have late effects.
func (u *AmbientChanges) pendingActions(now time.Time) int {
	if n := len(u.acts); n == 0 || now.Sub(u.acts[n-1]) > ambientTime {
		return 0
	}
	return len(u.acts)
}

// BeginAction learns what an app looks like when somebody begins to act on it.
func (u *AmbientChanges) BeginAction(s *desktop.Snapshot) {
	u.last = s
	old := 0
	for old < len(u.acts)-1 && s.Taken.Sub(u.acts[old]) > effectTime {
		old++
	}
	u.acts = append(u.acts[old:], s.Taken)
	for id, e := range u.known {
		e.pendingEffects++
		u.known[id] = e
	}
}

// EndAction learns what an app looks like after the action that began last: nothing of
// it is unrest. What had its effect owes none, unless it stood still before: then
// it is the action's, and so may be what follows.
func (u *AmbientChanges) EndAction(s *desktop.Snapshot) {
	before := u.last
	u.last = s
	var changed aspectSet
	if before != nil && len(u.known) > 0 {
		changed = diffAspects(before, s)
	}
	for id, e := range u.known {
		if changed[id] != 0 && e.unchangedFor < stillTime {
			e.pendingEffects = max(e.pendingEffects-1, 0)
		}
		e.unchangedFor = 0
		u.known[id] = e
	}
}

// Has reports whether the aspect of the element changes by itself. What has stood still for
// much longer than it used to has come to rest.
func (u *AmbientChanges) Has(id desktop.ID, aspect Aspect) bool {
	e := u.known[id]
	return e.spontaneous && aspect&^e.aspect == 0 && (e.gap == 0 || e.unchangedFor <= settledAfter+3*e.gap)
}

// The aspects of elements that differ.
type aspectSet map[desktop.ID]Aspect

// diffAspects returns what differs between two looks at an app.
func diffAspects(before, after *desktop.Snapshot) aspectSet {
	if before.Version == after.Version {
		return nil
	}
	return changedAspects(before, after)
}

// changedAspects returns the elements of the later snapshot that differ from what they
// were in the earlier one, and those that have other children. What a toolkit made
// anew counts for what it is in.
func changedAspects(before, after *desktop.Snapshot) aspectSet {
	p := pair(before, after)
	ids := make(aspectSet)
	mark := func(i int, aspect Aspect) {
		made := i
		if i = p.nearestSurvivor(i); i < 0 {
			return
		} else if i != made {
			aspect = Content
		}
		ids[after.Elements[i].ID] |= aspect
	}
	// What is in a text is the text once more: Chromium makes it anew a moment after the
	// text has changed, and one change would count for two.
	within := func(i int) {
		if i = p.nearestSurvivor(i); i >= 0 && !after.Elements[i].Role.IsTextual() {
			mark(i, Content)
		}
	}
	for i := range after.Elements {
		now := &after.Elements[i]
		j := p.toBefore[i]
		if j < 0 {
			within(now.Parent)
		} else if aspect := diffElement(&before.Elements[j], now); aspect != 0 {
			mark(i, aspect)
		}
		if p.reordered(i, func(int, int) bool { return true }) {
			within(i)
		}
	}
	for j := range before.Elements {
		if parent := before.Elements[j].Parent; p.toAfter[j] < 0 && parent >= 0 && p.toAfter[parent] >= 0 {
			within(p.toAfter[parent])
		}
	}
	return ids
}

func diffElement(was, now *desktop.Element) Aspect {
	a := Aspect(was.States ^ now.States)
	if was.Name != now.Name || was.Value != now.Value {
		a |= Content
	}
	return a
}

// nearestSurvivor returns the element of the later snapshot, or the nearest that it is in,
// that is the very one it was before, or -1.
func (p *pairs) nearestSurvivor(i int) int {
	for i >= 0 {
		if j := p.toBefore[i]; j >= 0 && p.before.Elements[j].ID == p.after.Elements[i].ID {
			return i
		}
		i = p.after.Elements[i].Parent
	}
	return -1
}
