package desktop

import "time"

// How unrest is told from what an action brings about later.
const (
	// aftermath is how long after an action a change may still be its effect. What
	// changes within it must do so twice to count as unrest.
	aftermath = 10 * time.Second
	// unrestLasts is for how long something that changed by itself is expected to do
	// so again.
	unrestLasts = 5 * time.Minute
)

// An Unrest remembers what of an app changes by itself, such as a clock or a list
// of messages, so that it is not taken for the effect of an action. It learns from
// what differs between one look and the next while nobody acts. The zero Unrest
// knows nothing. It is not safe for concurrent use.
type Unrest struct {
	last  *Snapshot
	acted time.Time
	known map[ID]restless
}

// A restless element changed by itself, or its children came and went.
type restless struct {
	times int
	last  time.Time
}

// Saw learns from a snapshot that was taken before anybody acted again.
func (u *Unrest) Saw(s *Snapshot) {
	before := u.last
	u.last = s
	if before == nil || before.Version == s.Version {
		return
	}
	weight := 2
	if !u.acted.IsZero() && s.Taken.Sub(u.acted) < aftermath {
		weight = 1
	}
	if u.known == nil {
		u.known = make(map[ID]restless)
	}
	for id, r := range u.known {
		if s.Taken.Sub(r.last) > unrestLasts {
			delete(u.known, id)
		}
	}
	for id := range unlike(before, s) {
		u.known[id] = restless{u.known[id].times + weight, s.Taken}
	}
}

// Acted learns what an app looks like after an action: nothing of it is unrest.
func (u *Unrest) Acted(s *Snapshot) { u.last, u.acted = s, s.Taken }

// Has reports whether the element changes by itself, or its children come and go.
func (u *Unrest) Has(id ID) bool { return u.known[id].times >= 2 }

// unlike returns the elements of the later snapshot that differ from what they
// were in the earlier one, and those that have other children. What a toolkit made
// anew counts for what it is in.
func unlike(before, after *Snapshot) map[ID]bool {
	p := pair(before, after)
	ids := make(map[ID]bool)
	mark := func(i int) {
		if i = p.lasting(i); i >= 0 {
			ids[after.Elements[i].ID] = true
		}
	}
	for i := range after.Elements {
		now := &after.Elements[i]
		j := p.toBefore[i]
		switch {
		case j < 0:
			mark(now.Parent)
		case differ(&before.Elements[j], now):
			mark(i)
		}
	}
	for j := range before.Elements {
		if parent := before.Elements[j].Parent; p.toAfter[j] < 0 && parent >= 0 && p.toAfter[parent] >= 0 {
			mark(p.toAfter[parent])
		}
	}
	return ids
}

func differ(was, now *Element) bool {
	return was.Name != now.Name || was.Value != now.Value || was.States != now.States
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
