package delta

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// Limits that distinguish ambient changes from the immediate and late effects of actions.
const (
	// effectTime is how long effects of many actions may still appear; those of the last two may appear
	// later.
	effectTime = 10 * time.Second
	// ambientTime is how long an element that changed by itself is expected to do so again.
	ambientTime = 5 * time.Minute
	// settledAfter is the minimum time without a change after which an element counts as settled.
	settledAfter = 2 * time.Second
	// stillTime is how long an element must have been unchanged before an action for its change to be the
	// action's effect.
	stillTime = 200 * time.Millisecond
)

// AmbientChanges remembers which elements of an app change by themselves, such as a clock or a list of
// messages, so that these changes are not taken for effects of an action. It learns from the differences
// between two snapshots without an action in between. Each action may cause one such late change of an
// element: a counter that only actions change never changes more often than there were actions. An element
// that changes more often is ambient. The zero value knows no changes. It is not safe for concurrent use.
type AmbientChanges struct {
	last  *desktop.Snapshot
	acts  []time.Time // start times of actions that may still have effects
	known map[desktop.ID]ambientChange
}

// An Aspect is a set of the parts of an element that change: its states, and [Content]. So an element that lost the
// keyboard focus by itself may still be selected by an action.
type Aspect uint64

// Content stands for an element's name, its value, and its children with their order.
const Content Aspect = 1 << 63

// An ambientChange is an element that changed, or gained or lost children, without an action.
type ambientChange struct {
	aspect         Aspect
	changed        time.Time     // time of the last change
	pendingEffects int           // actions that may still have a late effect on it
	unchangedFor   time.Duration // observed time without a change since the last one
	spontaneous    bool          // it changed more often than actions explain
	gap            time.Duration // longest time between two of its changes; 0 after a single one
}

// Observe learns from the differences between the last snapshot and s, without an action between them.
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

// lagTime is how long a number in a status bar, or a tool bar, may lag behind the action that changed it:
// LibreOffice counts words when it is idle.
const lagTime = 3 * time.Second

// FollowsRecentAction reports whether the last action began less than lagTime after the one before, so
// that late effects of the earlier one may still appear.
func (u *AmbientChanges) FollowsRecentAction() bool {
	n := len(u.acts)
	return n > 1 && u.acts[n-1].Sub(u.acts[n-2]) < lagTime
}

// pendingActions returns how many actions may still have late effects.
func (u *AmbientChanges) pendingActions(now time.Time) int {
	if n := len(u.acts); n == 0 || now.Sub(u.acts[n-1]) > ambientTime {
		return 0
	}
	return len(u.acts)
}

// BeginAction records that an action begins, and the snapshot before it.
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

// EndAction learns from the snapshot after the last action; its changes are not ambient. An element that
// changed has no pending effect of this action any more. The exception is one that was still before: its
// change is the action's, and later ones may be too.
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

// Has reports whether the aspect of the element changes by itself. An element that has been unchanged for
// much longer than usual counts as settled.
func (u *AmbientChanges) Has(id desktop.ID, aspect Aspect) bool {
	e := u.known[id]
	return e.spontaneous && aspect&^e.aspect == 0 && (e.gap == 0 || e.unchangedFor <= settledAfter+3*e.gap)
}

// An aspectSet maps elements to the aspects that differ.
type aspectSet map[desktop.ID]Aspect

// diffAspects returns the differences between two snapshots of an app.
func diffAspects(before, after *desktop.Snapshot) aspectSet {
	if before.Version == after.Version {
		return nil
	}
	return changedAspects(before, after)
}

// changedAspects returns the elements of the later snapshot that have changed or have other children. An
// element that a toolkit recreated counts for its parent.
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
	// The descendants of a text repeat the text: Chromium recreates them a moment after the text has
	// changed, and one change would count twice.
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

// nearestSurvivor returns the nearest element, from the given one upward, that has kept its ID, or -1.
func (p *pairs) nearestSurvivor(i int) int {
	for i >= 0 {
		if j := p.toBefore[i]; j >= 0 && p.before.Elements[j].ID == p.after.Elements[i].ID {
			return i
		}
		i = p.after.Elements[i].Parent
	}
	return -1
}

// These patterns identify a clock or a memory figure at first sight, before it was seen to change by
// itself.

// tickPatterns match times of the day, and amounts of memory.
type tickPatterns struct{ clock, memory, tab *regexp.Regexp }

func newTickPatterns() tickPatterns {
	return tickPatterns{
		clock:  regexp.MustCompile(`\b(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?\b`),
		tab:    regexp.MustCompile(`^ - [^-]+ - \d+(?:[.,]\d+)? ?[kKMG]i?B$`),
		memory: regexp.MustCompile(`\b\d+(?:[.,]\d+)? ?(?:bytes|[kKMG]i?B|B)\b`),
	}
}

// isTick reports whether the texts of an element in two snapshots differ only in times of the day and
// amounts of memory. A browser's tab may start to show its memory at any moment.
func (c *comparison) isTick(old, now *desktop.Element) bool {
	if now.Role == desktop.Tab && old.Value == now.Value {
		tab := newTickPatterns().tab
		if more, is := strings.CutPrefix(now.Name, old.Name); is && tab.MatchString(more) {
			return true
		}
		if less, is := strings.CutPrefix(old.Name, now.Name); is && tab.MatchString(less) {
			return true
		}
	}
	if !onlyDigits(old.Name+" "+old.Value, now.Name+" "+now.Value) {
		return false
	}
	return c.isTextTick(old.Name, now.Name) && c.isTextTick(old.Value, now.Value)
}

func (c *comparison) isTextTick(was, is string) bool {
	if was == is {
		return true
	}
	f := newTickPatterns()
	was, is = f.memory.ReplaceAllString(was, "?"), f.memory.ReplaceAllString(is, "?")
	if f.clock.ReplaceAllString(was, "?") != f.clock.ReplaceAllString(is, "?") {
		return false
	}
	then, now := f.clock.FindAllString(was, -1), f.clock.FindAllString(is, -1)
	for i := range then {
		if then[i] != now[i] && !f.advancesWithClock(then[i], c.before.Taken, now[i], c.after.Taken) {
			return false
		}
	}
	return true
}

// advancesWithClock reports whether two texts show the time of the two moments in the same time zone. A
// clock that an action has set shows another time.
func (f tickPatterns) advancesWithClock(was string, then time.Time, is string, now time.Time) bool {
	const zones = 15 * time.Minute // granularity of time zones
	before, rough := f.clockLag(was, then)
	after, _ := f.clockLag(is, now)
	const slow = 2 * time.Second
	most := slow
	if rough {
		most += time.Minute
	}
	const half = 12 * time.Hour // after which a clock may show the same
	apart := (after - before + 20*half) % half
	return (before%zones <= most || before%zones >= zones-slow) && (apart <= most || apart >= half-most)
}

// clockLag returns how far the time in the text lags behind UTC at that moment, plus 120 hours, and whether the text
// omits the seconds.
func (f tickPatterns) clockLag(text string, at time.Time) (late time.Duration, rough bool) {
	parts := f.clock.FindStringSubmatch(text)
	hour, _ := strconv.Atoi(parts[1])
	minute, _ := strconv.Atoi(parts[2])
	second, _ := strconv.Atoi(parts[3]) // 0 without seconds
	shown := time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute + time.Duration(second)*time.Second
	at = at.UTC()
	midnight := time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
	const longest = 100 * time.Hour // more than two digits can show, so that it is never negative
	return at.Sub(midnight) - shown + longest + 20*time.Hour, parts[3] == ""
}
