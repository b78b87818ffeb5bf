package delta

import (
	"time"

	"aai/internal/desktop"
)

// How unrest is told from what an action brings about, at once or later.
const (
	// aftermath is for how long the effects of many actions may still come; those of
	// the last two may come later.
	aftermath = 10 * time.Second
	// unrestLasts is for how long something that changed by itself is expected to do
	// so again.
	unrestLasts = 5 * time.Minute
	// restsAfter is how long something stands still at least that has come to rest.
	restsAfter = 2 * time.Second
	// atRest is how long something must have stood still for its change at an action
	// to be the action's.
	atRest = 200 * time.Millisecond
)

// An Unrest remembers what of an app changes by itself, such as a clock or a list
// of messages, so that it is not taken for the effect of an action. It learns from
// what differs between one look and the next while nobody acts. Each action may be
// the cause of one such change of an element, which comes late: a counter that only
// actions change never changes more often than there were actions. What does is
// unrest. The zero Unrest knows nothing. It is not safe for concurrent use.
type Unrest struct {
	last  *desktop.Snapshot
	acts  []time.Time // when actions began that may still have effects
	known map[desktop.ID]suspect
}

// An Aspect is what of an element changes: one that has lost the keyboard by itself is
// selected because of an action all the same. It is a set of states and of [Content].
type Aspect uint64

// Content is an element's name, its value and which children it has, in which order.
const Content Aspect = 1 << 63

// A suspect is an element that has changed, or its children came and went, while
// nobody acted.
type suspect struct {
	aspect  Aspect
	changed time.Time     // when it last did
	owed    int           // actions whose late effect on it may still come
	still   time.Duration // seen without a change since it last had one
	itself  bool          // it changed more often than actions explain
	gap     time.Duration // the longest between two of its changes; 0 where there was one alone
}

// Saw learns from a snapshot that was taken before anybody acted again.
func (u *Unrest) Saw(s *desktop.Snapshot) {
	before := u.last
	u.last = s
	if before == nil {
		return
	}
	changed := differing(before, s)
	for id, e := range u.known {
		switch {
		case s.Taken.Sub(e.changed) > unrestLasts:
			delete(u.known, id)
		case changed[id] == 0:
			e.still += s.Taken.Sub(before.Taken)
			u.known[id] = e
		}
	}
	for id, aspect := range changed {
		e, known := u.known[id]
		if known {
			e.gap = max(e.gap, s.Taken.Sub(e.changed))
		}
		if owed := u.late(s.Taken); !known || e.owed > owed {
			e.owed = owed
		}
		e.itself = e.itself || e.owed == 0
		e.aspect |= aspect
		e.owed, e.still, e.changed = max(e.owed-1, 0), 0, s.Taken
		if u.known == nil {
			u.known = make(map[desktop.ID]suspect)
		}
		u.known[id] = e
	}
}

// lags is for how long a status bar's number, or a tool bar, may follow an action that changed
// what it shows: LibreOffice counts words when it has nothing else to do.
const lags = 3 * time.Second

// Lags reports whether another action began shortly before the last one did.
func (u *Unrest) Lags() bool {
	n := len(u.acts)
	return n > 1 && u.acts[n-1].Sub(u.acts[n-2]) < lags
}

// late is how many actions may still have late effects.
func (u *Unrest) late(now time.Time) int {
	if n := len(u.acts); n == 0 || now.Sub(u.acts[n-1]) > unrestLasts {
		return 0
	}
	return len(u.acts)
}

// Acts learns what an app looks like when somebody begins to act on it.
func (u *Unrest) Acts(s *desktop.Snapshot) {
	u.last = s
	old := 0
	for old < len(u.acts)-1 && s.Taken.Sub(u.acts[old]) > aftermath {
		old++
	}
	u.acts = append(u.acts[old:], s.Taken)
	for id, e := range u.known {
		e.owed++
		u.known[id] = e
	}
}

// Acted learns what an app looks like after the action that began last: nothing of
// it is unrest. What had its effect owes none, unless it stood still before: then
// it is the action's, and so may be what follows.
func (u *Unrest) Acted(s *desktop.Snapshot) {
	before := u.last
	u.last = s
	var changed aspects
	if before != nil && len(u.known) > 0 {
		changed = differing(before, s)
	}
	for id, e := range u.known {
		if changed[id] != 0 && e.still < atRest {
			e.owed = max(e.owed-1, 0)
		}
		e.still = 0
		u.known[id] = e
	}
}

// Has reports whether the aspect of the element changes by itself. What has stood still for
// much longer than it used to has come to rest.
func (u *Unrest) Has(id desktop.ID, aspect Aspect) bool {
	e := u.known[id]
	return e.itself && aspect&^e.aspect == 0 && (e.gap == 0 || e.still <= restsAfter+3*e.gap)
}

// The aspects of elements that differ.
type aspects map[desktop.ID]Aspect

// differing returns what differs between two looks at an app.
func differing(before, after *desktop.Snapshot) aspects {
	if before.Version == after.Version {
		return nil
	}
	return unlike(before, after)
}

// unlike returns the elements of the later snapshot that differ from what they
// were in the earlier one, and those that have other children. What a toolkit made
// anew counts for what it is in.
func unlike(before, after *desktop.Snapshot) aspects {
	p := pair(before, after)
	ids := make(aspects)
	mark := func(i int, aspect Aspect) {
		made := i
		if i = p.lasting(i); i < 0 {
			return
		} else if i != made {
			aspect = Content
		}
		ids[after.Elements[i].ID] |= aspect
	}
	// What is in a text is the text once more: Chromium makes it anew a moment after the
	// text has changed, and one change would count for two.
	within := func(i int) {
		if i = p.lasting(i); i >= 0 && !after.Elements[i].Role.Wordy() {
			mark(i, Content)
		}
	}
	for i := range after.Elements {
		now := &after.Elements[i]
		j := p.toBefore[i]
		if j < 0 {
			within(now.Parent)
		} else if aspect := differ(&before.Elements[j], now); aspect != 0 {
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

func differ(was, now *desktop.Element) Aspect {
	a := Aspect(was.States ^ now.States)
	if was.Name != now.Name || was.Value != now.Value {
		a |= Content
	}
	return a
}

// lasting returns the element of the later snapshot, or the nearest that it is in,
// that is the very one it was before, or -1.
func (p *pairs) lasting(i int) int {
	for i >= 0 {
		if j := p.toBefore[i]; j >= 0 && p.before.Elements[j].ID == p.after.Elements[i].ID {
			return i
		}
		i = p.after.Elements[i].Parent
	}
	return -1
}
