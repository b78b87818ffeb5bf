package aai

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	// longRead is after how long a call that is not on record yet is put there: one
	// line is enough for what ends at once.
	longRead = time.Second
	// recordPatience is how long Do waits for the last line of a call. The journal
	// itself waits less long for its lock.
	recordPatience = 10 * time.Second
)

// A passage is one call on its way through Do. The stages are passed in a goroutine
// of their own, so that Do returns in time whatever hangs in any of them; what is
// left behind then begins nothing any more.
type passage struct {
	g     *Gateway
	r     *Request        // the goroutine's own
	outer *passage        // the call whose Action makes this one; nil: a door does
	door  context.Context // changed under mu
	begun time.Time
	calls []string // its id and those of what it is within; see Whose
	clock *clock
	ended chan ending
	aloud *progress // who hears how far it is; nil: nobody
	waits func()    // wants to know that the gateway's own work is done; nil: nobody
	// unready says why it cannot be put on record; nil: it can. The goroutine's own.
	unready *Error
	open    []Question // what a person has to decide first. The goroutine's own.
	asked   bool       // a person was asked. The goroutine's own.
	rested  bool       // it was admitted with others, to run later. The goroutine's own.

	model *Call                   // as it was admitted; nil of one that runs at once
	like  *passage                // it was admitted with this one; or nil
	back  bool                    // it takes back what that one did
	fill  func(Hole) (any, error) // gives what its holes stand for; nil: it has none
	gaps  bool                    // it has holes. The goroutine's own.

	mu      sync.Mutex // guards what follows
	about   Entry      // what is known of the call for its record
	stage   Stage
	far     far                     // how far the Action says it is
	halt    *Error                  // why a person has ended it; nil: none has
	cancel  context.CancelCauseFunc // ends door; nil: nothing but whoever made it does
	name    string                  // of the target, for people
	total   time.Duration           // what the tool has
	visit   *visit                  // of the target's lane
	ran     bool                    // the Action has begun
	asking  time.Time               // since when the person is waited for; zero: they are not
	person  time.Duration           // how long they were waited for, when that is over
	on      Hit
	settled bool // somebody says how the call ended: the goroutine, or Do without it

	lines chan struct{} // holds a token while a line is written; guards what follows
	told  bool          // the first line is written
	shown bool          // what was admitted is
}

// An ending is what becomes of a call.
type ending struct {
	result *Result
	err    *Error
}

func newPassage(ctx context.Context, g *Gateway, asked *Call, late chan struct{}) *passage {
	call := *asked
	call.Target = nil
	if call.ID == "" {
		call.ID = NewCallID()
	}
	outer, _ := ctx.Value(passageKey{}).(*passage)
	if outer != nil {
		call.Parent = cmp.Or(call.Parent, outer.r.Call.ID)
	}
	p := &passage{
		g: g, outer: outer, r: &Request{Call: &call}, begun: time.Now(), clock: newClock(DefaultTimeout, late),
		ended: make(chan ending, 1), lines: make(chan struct{}, 1), stage: Finding, total: DefaultTimeout, about: received(&call),
	}
	if outer != nil {
		p.r.Within = outer.r
	}
	p.calls = p.whose()
	p.r.Sandboxed, _ = ctx.Value(sandboxKey{}).(bool)
	p.listen(ctx)
	return p
}

// listen has the call go on by the context of whoever makes it. How far one within another
// is, that other's Action tells.
func (p *passage) listen(ctx context.Context) {
	if p.outer != nil {
		ctx = context.WithValue(ctx, progressKey{}, (*progress)(nil))
	}
	p.mu.Lock()
	p.door = ctx
	p.mu.Unlock()
	p.aloud, _ = ctx.Value(progressKey{}).(*progress)
	p.waits, _ = ctx.Value(waitsKey{}).(func())
}

// await returns what becomes of the call, by its deadline at the latest.
func (p *passage) await() ending {
	select {
	case e := <-p.ended:
		return e
	case <-p.clock.late:
	case <-p.door.Done():
		select {
		case e := <-p.ended:
			return e
		case <-time.After(lateGrace):
		}
	}
	if p.settle() {
		left := p.abandon()
		go p.conclude(ending{err: left}, left.Message, left)
	}
	return p.last()
}

// last returns what becomes of a call that ends now.
func (p *passage) last() ending {
	select {
	case e := <-p.ended:
		return e
	case <-time.After(recordPatience):
	}
	return ending{err: unrecorded(recordFailed(errors.New("the journal does not answer")), p.abandon())}
}

// leave ends a call that does not go on, without its goroutine.
func (p *passage) leave(why *Error) {
	if p.settle() {
		go p.conclude(ending{err: why}, why.Message, why)
	}
}

// settle reports whether the one who asks is to say how the call ended.
func (p *passage) settle() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	first := !p.settled
	p.settled = true
	return first
}

// abandon is the error of a call that is left behind where it is.
func (p *passage) abandon() *Error {
	p.mu.Lock()
	at, ran, v := p.stage, p.ran, p.visit
	p.mu.Unlock()
	if why := p.halted(); why != nil {
		if ran && v != nil {
			v.abandoned(false)
		}
		return p.haltedAs(why, nil)
	}
	if cause := p.door.Err(); cause != nil && !errors.Is(cause, context.DeadlineExceeded) {
		if ran && v != nil {
			v.abandoned(false)
		}
		if ran {
			e := *AsError(cause)
			if p.reads() {
				e.Delivery = NotDelivered
			}
			return &e
		}
		return leftBefore(cause)
	}
	if ran && v != nil {
		v.abandoned(true)
	}
	return p.late(at, ran)
}

// reads reports whether the tool only reads by the way it works, so that nothing can have
// come of the call. An app whose descriptor says that a tool reads may have done anything.
func (p *passage) reads() bool {
	t := p.r.Tool
	return t != nil && t.Effect == Reads && t.Natural && !t.Starts
}

// careful is an Action's error that says of the delivery what may have happened: one that
// says nothing of it, of a call that does not only read, may have come after something
// was sent.
func (p *passage) careful(e *Error) *Error {
	if e.Delivery != "" || p.reads() {
		return e
	}
	said := *e
	said.Delivery = DeliveryUnknown
	return &said
}

// late is the error of a call whose time was over at a stage.
func (p *passage) late(at Stage, ran bool) *Error {
	p.mu.Lock()
	app, target := p.about.App, p.about.Target
	took := min(p.total, time.Since(p.begun)).Round(time.Millisecond)
	p.mu.Unlock()
	if ran && p.reads() {
		return &Error{
			Code:     Timeout,
			Message:  fmt.Sprintf("%s did not answer within %s; it was only to be read", app, took),
			Hint:     "Call again; nothing was done.",
			Delivery: NotDelivered,
		}
	}
	if ran {
		return &Error{
			Code:     Timeout,
			Message:  fmt.Sprintf("%s did not answer within %s", app, took),
			Hint:     "The app may still be working on it. Look at its state before you try again.",
			Delivery: DeliveryUnknown,
		}
	}
	e := &Error{
		Code:     Timeout,
		Message:  fmt.Sprintf("the call's time was over after %s, at %s; nothing was run", took, at.words()),
		Hint:     "Call again, and later if many calls are open.",
		Delivery: NotDelivered,
	}
	if at == Queueing {
		e.Message = fmt.Sprintf("other calls to %s took until the deadline; nothing was run", cmp.Or(target, app))
	}
	return e
}

// travel passes the stages and says how the call ended, unless Do has done so.
func (p *passage) travel(stages func() (*Result, *Error)) {
	e := ending{err: &Error{
		Code: Internal, Message: "the tool " + CleanLabel(p.r.Call.Tool, maxName) + " ended without an answer", Delivery: DeliveryUnknown,
	}}
	defer func() {
		if v := recover(); v != nil {
			e = ending{err: panicked(v)}
		}
		p.finish(e)
		p.letGo()
	}()
	e.result, e.err = stages()
}

// finish takes out of an error what must not be said, and concludes the call.
func (p *passage) finish(e ending) {
	var said string
	var told *Error
	if e.err != nil {
		e.result = nil
		if why := p.halted(); why != nil && e.err.Code != RecordFailed {
			e.err = p.haltedAs(why, e.err)
		}
		if p.reads() && e.err.Delivery == DeliveryUnknown {
			harmless := *e.err
			harmless.Delivery = NotDelivered
			e.err = &harmless
		}
		said, told = p.r.unsaid(e.err)
	}
	if p.settle() {
		p.conclude(e, said, told)
	}
}

// conclude puts the outcome on record and ends the call: told is the error as the
// caller may have it, said what it says on record.
func (p *passage) conclude(e ending, said string, told *Error) {
	var late *Error
	if !p.renews(e) {
		late = p.record(p.outcome(e, said))
	}
	p.tell(e)
	if late != nil && e.result != nil && p.r.mayBeUnrecorded() {
		e.result = e.result.unrecorded(late)
	} else if late != nil {
		e = ending{err: unrecorded(late, e.err)}
	} else if told != nil {
		e.err = told
	}
	p.r.release()
	p.clock.alarm.Stop()
	p.ended <- e
}

// at notes that the call has come to a stage, and reports whether it goes on: not
// where Do has left it behind, nor where a person has stopped it.
func (p *passage) at(s Stage) bool {
	if p.waits != nil && (s == Asking || s == Queueing) {
		p.waits()
	}
	p.mu.Lock()
	p.stage = s
	settled := p.settled
	p.mu.Unlock()
	p.g.moved()
	if s == Gating || s == Queueing { // the next stage looks, before anything comes of it
		return !settled
	}
	return !settled && p.stopped() == nil
}

// begin notes that the Action is about to run, and reports whether it may.
func (p *passage) begin() bool {
	defer p.g.moved()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.settled {
		return false
	}
	p.stage, p.ran = Acting, true
	if p.visit != nil {
		p.visit.since = time.Now()
	}
	return true
}

// Sandboxed returns a context in which calls may only read, and the calls within those:
// the gate of modes judges them as if the mode were the strictest.
func Sandboxed(ctx context.Context) context.Context {
	return context.WithValue(ctx, sandboxKey{}, true)
}

type (
	passageKey struct{}
	sandboxKey struct{}
	waitsKey   struct{}
)

// WithWaits returns a context in which f is called when what remains of a call is to
// wait: for a person, for other calls, for the app. A door that lets few calls of a
// caller begin at a time lets the next one begin then. F is called from the call's
// goroutine, perhaps several times, and must not block; of a call that is refused
// before, not at all.
func WithWaits(ctx context.Context, f func()) context.Context {
	return context.WithValue(ctx, waitsKey{}, f)
}

// know changes what is known of the call.
func (p *passage) know(f func(p *passage)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f(p)
}
