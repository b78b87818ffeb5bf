package policy

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"aai"
)

// A Kind is a sort of calls with limits of its own.
type Kind string

// The kinds.
const (
	Declared Kind = "declared" // tools of apps, and the gateway's own
	Windows  Kind = "desktop"  // tools on windows
	Vision   Kind = "vision"   // those of them that look with a model
	Script   Kind = "script"   // those of them that run a caller's own code
)

// A Limit is how much one caller may do of a kind. 0 is none of it.
type Limit struct {
	PerSecond, PerMinute int
	Concurrent           int // calls at the same time
}

// DefaultLimits are the limits where nobody configured others.
func DefaultLimits() map[Kind]Limit {
	return map[Kind]Limit{
		Declared: {PerSecond: 500, PerMinute: 30_000, Concurrent: 128},
		Windows:  {PerSecond: 50, PerMinute: 1000, Concurrent: 20},
		Vision:   {PerSecond: 10, PerMinute: 10, Concurrent: 10},
		Script:   {PerSecond: 5, PerMinute: 5, Concurrent: 10},
	}
}

const (
	// ofTarget is which part of a caller's slots its calls to one target may have: one
	// that hangs leaves the others to the rest.
	ofTarget = 2
	// crowd is how many times the slots of one caller all callers have together.
	// Beyond that each has its fair share, which is one at the least.
	crowd = 4
	// maxCallers is how many callers are remembered; past it, those who do nothing
	// are forgotten.
	maxCallers = 1000
	// busyFor is how long a caller waits whose slots are all taken.
	busyFor = 100 * time.Millisecond
)

// Limits is the gate that keeps callers from doing too much at once. Each caller
// has its own measure, so that one who runs wild costs the others nothing. Every
// call counts, also one that another gate refuses. It is safe for concurrent use.
type Limits struct {
	limits map[Kind]Limit
	now    func() time.Time

	mu     sync.Mutex
	of     map[who]*measure
	heard  map[connection]*intake
	active map[Kind]int // slots that are taken, of all callers
	busy   map[Kind]int // callers that have one at least
}

// who is one caller's calls of a kind. A new name, which is the caller's own word, is no
// new caller; nor is a new session where it is known whose it is.
type who struct {
	kind    Kind
	by      connection
	session string
}

// measure is what one caller did of a kind.
type measure struct {
	second, minute *rate.Limiter
	active         int
	at             map[target]int // of active
	last           time.Time
}

// target is what calls touch.
type target struct {
	app     string
	process int
}

// NewLimits returns the gate. A kind without a limit admits nothing.
func NewLimits(limits map[Kind]Limit) *Limits {
	return &Limits{
		limits: limits, now: time.Now,
		of: make(map[who]*measure), heard: make(map[connection]*intake), active: make(map[Kind]int), busy: make(map[Kind]int),
	}
}

// Check implements aai.Gate. The slot is given back when the call has ended.
func (l *Limits) Check(_ context.Context, r *aai.Request) ([]aai.Question, error) {
	if r.Holds(l) {
		return nil, nil
	}
	c := r.Call.Caller
	me := who{kind: kindOf(r.App, r.Tool), by: connection{c.Door, c.Identity}}
	if c.Identity == "" {
		me.session = c.Session
	}
	touched := target{r.Call.Target.ID, r.Call.Target.PID}
	if r.Within != nil && r.Within.Call.Caller == c && r.Within.Holds(l) {
		// It is counted when it runs, and is under way within a call that has a slot.
		if r.Rests {
			return nil, nil
		}
		if err := l.count(me); err != nil {
			return nil, err
		}
		r.Hold(l, func() {})
		return nil, nil
	}
	m, err := l.take(me, touched)
	if err != nil {
		return nil, err
	}
	r.Hold(l, func() { l.giveBack(me.kind, m, touched) }) // which may be at once
	return nil, nil
}

// count counts a call that needs no slot of its own.
func (l *Limits) count(me who) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if wait := l.measureOf(me).take(l.now()); wait > 0 {
		return limited(me.kind, "calls too often", wait)
	}
	return nil
}

// take takes a slot.
func (l *Limits) take(me who, touched target) (*measure, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.measureOf(me)
	if wait := m.take(l.now()); wait > 0 {
		return nil, limited(me.kind, "calls too often", wait)
	}
	if !l.fits(me.kind, m) {
		return nil, limited(me.kind, "has too many calls open", busyFor)
	}
	if m.at[touched] >= max(1, l.limits[me.kind].Concurrent/ofTarget) {
		e := limited(me.kind, fmt.Sprintf("has %d calls to %s open", m.at[touched], touched.app), busyFor)
		e.Hint = "Wait until some of them have ended. Calls to others are not affected."
		return nil, e
	}
	m.active++
	m.at[touched]++
	l.active[me.kind]++
	if m.active == 1 {
		l.busy[me.kind]++
	}
	return m, nil
}

// fits reports whether one more call of the caller may run.
func (l *Limits) fits(kind Kind, m *measure) bool {
	most := l.limits[kind].Concurrent
	if m.active >= most {
		return false
	}
	others := l.busy[kind]
	if m.active == 0 {
		others++ // this one too
	}
	return l.active[kind] < crowd*most || m.active < max(1, crowd*most/others)
}

func (l *Limits) giveBack(kind Kind, m *measure, touched target) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if m.at[touched]--; m.at[touched] == 0 {
		delete(m.at, touched)
	}
	m.active--
	l.active[kind]--
	if m.active == 0 {
		l.busy[kind]--
	}
}

func (l *Limits) measureOf(me who) *measure {
	if m := l.of[me]; m != nil {
		return m
	}
	if len(l.of) >= maxCallers {
		l.forget()
	}
	limit := l.limits[me.kind]
	m := &measure{
		at:     make(map[target]int),
		second: rate.NewLimiter(rate.Limit(limit.PerSecond), limit.PerSecond),
		minute: rate.NewLimiter(rate.Limit(float64(limit.PerMinute)/60), limit.PerMinute),
	}
	l.of[me] = m
	return m
}

// forget drops those whose measure is full again anyway.
func (l *Limits) forget() {
	for me, m := range l.of {
		if m.active == 0 && l.now().Sub(m.last) > time.Minute {
			delete(l.of, me)
		}
	}
}

// take counts one call, or says how long to wait for it.
func (m *measure) take(now time.Time) time.Duration {
	m.last = now
	for _, limiter := range []*rate.Limiter{m.second, m.minute} {
		if limiter.Burst() < 1 {
			return time.Minute
		}
		if missing := 1 - limiter.TokensAt(now); missing > 0 {
			return max(time.Millisecond, time.Duration(missing/float64(limiter.Limit())*float64(time.Second)))
		}
	}
	m.second.AllowN(now, 1)
	m.minute.AllowN(now, 1)
	return 0
}

func limited(kind Kind, what string, wait time.Duration) *aai.Error {
	e := aai.Errorf(aai.RateLimited, "this caller %s (%s tools)", what, kind)
	e.RetryAfter = wait.Round(time.Millisecond)
	e.Hint = "Wait before the next call, and do several things in one call where a tool can."
	return e
}

func kindOf(app *aai.App, tool *aai.Tool) Kind {
	switch {
	case tool.Kind == aai.KindScript:
		return Script
	case tool.Kind == aai.KindVision:
		return Vision
	case app.OperatesOthers():
		return Windows
	}
	return Declared
}
