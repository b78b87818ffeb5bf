package policy

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
	"golang.org/x/time/rate"
)

// A Kind is a class of calls with its own limits.
type Kind string

// The kinds of calls.
const (
	KindDeclared Kind = "declared" // tools of apps, and the gateway's own
	KindDesktop  Kind = "desktop"  // tools on windows
	KindVision   Kind = "vision"   // tools on windows that use a vision model
	KindScript   Kind = "script"   // tools on windows that run a caller's own code
)

// A Limit bounds the calls of one kind by one caller. 0 admits none.
type Limit struct {
	PerSecond, PerMinute int
	Concurrent           int // calls at the same time
}

// DefaultLimits returns the limits for kinds without configured ones.
func DefaultLimits() map[Kind]Limit {
	return map[Kind]Limit{
		KindDeclared: {PerSecond: 500, PerMinute: 30_000, Concurrent: 128},
		KindDesktop:  {PerSecond: 50, PerMinute: 1000, Concurrent: 20},
		KindVision:   {PerSecond: 10, PerMinute: 10, Concurrent: 10},
		KindScript:   {PerSecond: 5, PerMinute: 5, Concurrent: 10},
	}
}

const (
	// targetShare divides a caller's slots: its calls to one target may have 1/targetShare
	// of them, so that a target that hangs leaves slots for the others.
	targetShare = 2
	// totalSlotFactor times the slots of one caller is the number of slots of all callers.
	// Beyond that each caller has an equal share, at least one slot.
	totalSlotFactor = 4
	// maxCallers is the number of callers that are remembered; beyond it, idle callers are
	// removed.
	maxCallers = 1000
	// busyRetryAfter is the time until a retry for a caller without a free slot.
	busyRetryAfter = 100 * time.Millisecond
)

// Limits is the gate that bounds the rate and the concurrency of calls. Each caller has
// its own counters, so that a runaway caller does not affect others. Every call counts,
// even one that another gate refuses. It is safe for concurrent use.
type Limits struct {
	limits map[Kind]Limit
	now    func() time.Time

	mu           sync.Mutex
	byCaller     map[callerKey]*usage
	byConnection map[connection]*connectionUsage
	active       map[Kind]int // occupied slots of all callers
	busy         map[Kind]int // callers with at least one slot
}

// callerKey identifies one caller's calls of a kind. A new self-reported name makes no new
// caller; nor does a new session if the identity is verified.
type callerKey struct {
	kind    Kind
	by      connection
	session string
}

// usage counts one caller's calls of a kind.
type usage struct {
	second, minute *rate.Limiter
	active         int
	at             map[target]int // active by target
	last           time.Time
}

// target identifies the app and the process that a call acts on.
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

// Check implements aai.Gate: it counts the call, and reserves a slot for it until it ends.
func (l *Limits) Check(_ context.Context, r *aai.Request) ([]aai.Question, error) {
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
		// The call counts when it runs, and runs within a call that has a slot.
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
	r.Reserve(l, func() { l.releaseSlot(me.kind, m, touched) }) // the release may run at once
	return nil, nil
}

// count counts a call that needs no slot.
func (l *Limits) count(me callerKey) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if wait := l.usageOf(me).take(l.now()); wait > 0 {
		return limited(me.kind, "calls too often", wait)
	}
	return nil
}

// takeSlot counts a call and reserves a slot for it.
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
		others++ // including this one
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

// removeIdle removes callers that were idle for a minute. Their rate limits have recovered by then.
func (l *Limits) removeIdle() {
	for me, m := range l.byCaller {
		if m.active == 0 && l.now().Sub(m.last) > time.Minute {
			delete(l.byCaller, me)
		}
	}
}

// take counts one call, or returns the time to wait for it.
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
	case tool.Assessment(nil).Kind == aai.KindScript:
		return KindScript
	case tool.Assessment(nil).Kind == aai.KindVision:
		return KindVision
	case app.OperatesOthers():
		return KindDesktop
	}
	return KindDeclared
}

// Limits for one connection, independent of the caller's name and of whether the tool
// exists. They exceed the needs of any agent but protect other connections.
const (
	// connectionCallFactor times the PerSecond limit of declared tools is the number of
	// calls a second on one connection. Several conversations may share it.
	connectionCallFactor = 4
	// connectionBytesPerSecond is the limit for bytes of arguments a second;
	// connectionBurst is the limit for bytes at once.
	connectionBytesPerSecond = 4 << 20
	connectionBurst          = 64 << 20
)

// connection identifies a sender by verified facts only. Self-reported facts, such as its
// name and its number of sessions, are left out.
type connection struct{ door, identity string }

// connectionUsage counts the calls and bytes of one connection.
type connectionUsage struct {
	calls, bytes *rate.Limiter
	last         time.Time
}

// CountReceived implements aai.Meter: it returns an error if a connection sends too many calls or bytes.
func (l *Limits) CountReceived(c aai.Caller, bytes int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	in := l.connectionUsage(connection{c.Door, c.Identity})
	in.last = now
	if in.calls.Burst() > 0 && !in.calls.AllowN(now, 1) {
		return tooMuchSentError("too many calls", time.Second)
	}
	if missing := float64(bytes) - in.bytes.TokensAt(now); missing > 0 {
		return tooMuchSentError("too many bytes", time.Duration(missing/connectionBytesPerSecond*float64(time.Second)))
	}
	in.bytes.AllowN(now, bytes)
	return nil
}

func (l *Limits) connectionUsage(c connection) *connectionUsage {
	if in := l.byConnection[c]; in != nil {
		return in
	}
	if len(l.byConnection) >= maxCallers {
		for old, in := range l.byConnection {
			if l.now().Sub(in.last) > time.Minute {
				delete(l.byConnection, old)
			}
		}
	}
	calls := connectionCallFactor * l.limits[KindDeclared].PerSecond
	in := &connectionUsage{calls: rate.NewLimiter(rate.Limit(calls), calls), bytes: rate.NewLimiter(connectionBytesPerSecond, connectionBurst)}
	l.byConnection[c] = in
	return in
}

func tooMuchSentError(what string, wait time.Duration) error {
	e := aai.Errorf(aai.RateLimited, "this connection sends %s", what)
	e.RetryAfter = wait.Round(time.Millisecond)
	e.Hint = "Wait before the next call."
	return e
}
