package policy

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/gybob/aai-gateway"
)

// A Kind is a sort of calls with limits of its own.
type Kind string

// The kinds.
const (
	KindDeclared Kind = "declared" // tools of apps, and the gateway's own
	KindDesktop  Kind = "desktop"  // tools on windows
	KindVision   Kind = "vision"   // those of them that look with a model
	KindScript   Kind = "script"   // those of them that run a caller's own code
)

// A Limit is how much one caller may do of a kind. 0 is none of it.
type Limit struct {
	PerSecond, PerMinute int
	Concurrent           int // calls at the same time
}

// DefaultLimits are the limits where nobody configured others.
func DefaultLimits() map[Kind]Limit {
	return map[Kind]Limit{
		KindDeclared: {PerSecond: 500, PerMinute: 30_000, Concurrent: 128},
		KindDesktop:  {PerSecond: 50, PerMinute: 1000, Concurrent: 20},
		KindVision:   {PerSecond: 10, PerMinute: 10, Concurrent: 10},
		KindScript:   {PerSecond: 5, PerMinute: 5, Concurrent: 10},
	}
}

const (
	// targetShare is which part of a caller's slots its calls to one target may have: one
	// that hangs leaves the others to the rest.
	targetShare = 2
	// totalSlotFactor is how many times the slots of one caller all callers have together.
	// Beyond that each has its fair share, which is one at the least.
	totalSlotFactor = 4
	// maxCallers is how many callers are remembered; past it, those who do nothing
	// are forgotten.
	maxCallers = 1000
	// busyRetryAfter is how long a caller waits whose slots are all taken.
	busyRetryAfter = 100 * time.Millisecond
)

// Limits is the gate that keeps callers from doing too much at once. Each caller
// has its own measure, so that one who runs wild costs the others nothing. Every
// call counts, also one that another gate refuses. It is safe for concurrent use.
type Limits struct {
	limits map[Kind]Limit
	now    func() time.Time

	mu           sync.Mutex
	byCaller     map[callerKey]*usage
	byConnection map[connection]*connectionUsage
	active       map[Kind]int // slots that are taken, of all callers
	busy         map[Kind]int // callers that have one at least
}

// callerKey is one caller's calls of a kind. A new name, which is the caller's own word, is no
// new caller; nor is a new session where it is known whose it is.
type callerKey struct {
	kind    Kind
	by      connection
	session string
}

// usage is what one caller did of a kind.
type usage struct {
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
		byCaller: make(map[callerKey]*usage), byConnection: make(map[connection]*connectionUsage), active: make(map[Kind]int), busy: make(map[Kind]int),
	}
}

// CheckPassphrase implements aai.Gate. The slot is given back when the call has ended.
func (l *Limits) CheckPassphrase(_ context.Context, r *aai.Request) ([]aai.Question, error) {
	if r.HasReservation(l) {
		return nil, nil
	}
	c := r.Call.Caller
	me := callerKey{kind: kindOf(r.App, r.Tool), by: connection{c.Door, c.Identity}}
	if c.Identity == "" {
		me.session = c.Session
	}
	touched := target{r.Call.Target.ID, r.Call.Target.PID}
	if r.Outer != nil && r.Outer.Call.Caller == c && r.Outer.HasReservation(l) {
		// It is counted when it runs, and is under way within a call that has a slot.
		if r.Deferred {
			return nil, nil
		}
		if err := l.count(me); err != nil {
			return nil, err
		}
		r.Reserve(l, func() {})
		return nil, nil
	}
	m, err := l.takeSlot(me, touched)
	if err != nil {
		return nil, err
	}
	r.Reserve(l, func() { l.releaseSlot(me.kind, m, touched) }) // which may be at once
	return nil, nil
}

// count counts a call that needs no slot of its own.
func (l *Limits) count(me callerKey) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if wait := l.usageOf(me).take(l.now()); wait > 0 {
		return limited(me.kind, "calls too often", wait)
	}
	return nil
}

// takeSlot takes a slot.
func (l *Limits) takeSlot(me callerKey, touched target) (*usage, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.usageOf(me)
	if wait := m.take(l.now()); wait > 0 {
		return nil, limited(me.kind, "calls too often", wait)
	}
	if !l.hasSlot(me.kind, m) {
		return nil, limited(me.kind, "has too many calls open", busyRetryAfter)
	}
	if m.at[touched] >= max(1, l.limits[me.kind].Concurrent/targetShare) {
		e := limited(me.kind, fmt.Sprintf("has %d calls to %s open", m.at[touched], touched.app), busyRetryAfter)
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

// hasSlot reports whether one more call of the caller may run.
func (l *Limits) hasSlot(kind Kind, m *usage) bool {
	most := l.limits[kind].Concurrent
	if m.active >= most {
		return false
	}
	others := l.busy[kind]
	if m.active == 0 {
		others++ // this one too
	}
	return l.active[kind] < totalSlotFactor*most || m.active < max(1, totalSlotFactor*most/others)
}

func (l *Limits) releaseSlot(kind Kind, m *usage, touched target) {
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

func (l *Limits) usageOf(me callerKey) *usage {
	if m := l.byCaller[me]; m != nil {
		return m
	}
	if len(l.byCaller) >= maxCallers {
		l.removeIdle()
	}
	limit := l.limits[me.kind]
	m := &usage{
		at:     make(map[target]int),
		second: rate.NewLimiter(rate.Limit(limit.PerSecond), limit.PerSecond),
		minute: rate.NewLimiter(rate.Limit(float64(limit.PerMinute)/60), limit.PerMinute),
	}
	l.byCaller[me] = m
	return m
}

// removeIdle drops those whose measure is full again anyway.
func (l *Limits) removeIdle() {
	for me, m := range l.byCaller {
		if m.active == 0 && l.now().Sub(m.last) > time.Minute {
			delete(l.byCaller, me)
		}
	}
}

// take counts one call, or says how long to wait for it.
func (m *usage) take(now time.Time) time.Duration {
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
		return KindScript
	case tool.Kind == aai.KindVision:
		return KindVision
	case app.OperatesOthers():
		return KindDesktop
	}
	return KindDeclared
}
