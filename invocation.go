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
	// receivedDelay is after how long a call that is not on record yet is put there: one
	// line is enough for what ends at once.
	receivedDelay = time.Second
	// recordTimeout is how long Do waits for the last line of a call. The journal
	// itself waits less long for its lock.
	recordTimeout = 10 * time.Second
)

// A passage is one call on its way through Do. The stages are passed in a goroutine
// of their own, so that Do returns in time whatever hangs in any of them; what is
// left behind then begins nothing any more.
type invocation struct {
	g        *Gateway
	request  *Request        // the goroutine's own
	outer    *invocation     // the call whose Action makes this one; nil: a door does
	ctx      context.Context // changed under mu
	started  time.Time
	callIDs  []string // its id and those of what it is within; see Whose
	clock    *clock
	done     chan callResult
	progress *progress // who hears how far it is; nil: nobody
	waitHook func()    // wants to know that the gateway's own work is done; nil: nobody
	// journalError says why it cannot be put on record; nil: it can. The goroutine's own.
	journalError  *Error
	openQuestions []Question // what a person has to decide first. The goroutine's own.
	personAsked   bool       // a person was asked. The goroutine's own.
	deferred      bool       // it was admitted with others, to run later. The goroutine's own.

	admittedCall     *Call                          // as it was admitted; nil of one that runs at once
	base             *invocation                    // it was admitted with this one; or nil
	isUndo           bool                           // it takes back what that one did
	placeholderValue func(Placeholder) (any, error) // gives what its holes stand for; nil: it has none
	hasPlaceholders  bool                           // it has holes. The goroutine's own.

	mu            sync.Mutex // guards what follows
	entry         Entry      // what is known of the call for its record
	stage         Stage
	lastProgress  progressState           // how far the Action says it is
	stopError     *Error                  // why a person has ended it; nil: none has
	cancelContext context.CancelCauseFunc // ends door; nil: nothing but whoever made it does
	targetName    string                  // of the target, for people
	timeout       time.Duration           // what the tool has
	slot          *slot                   // of the target's lane
	actionStarted bool                    // the Action has begun
	askingSince   time.Time               // since when the person is waited for; zero: they are not
	personWait    time.Duration           // how long they were waited for, when that is over
	element       TargetElement
	settled       bool // somebody says how the call ended: the goroutine, or Do without it

	recordToken      chan struct{} // holds a token while a line is written; guards what follows
	firstLineWritten bool          // the first line is written
	admissionWritten bool          // what was admitted is
}

// An ending is what becomes of a call.
type callResult struct {
	result *Result
	err    *Error
}

func newInvocation(ctx context.Context, g *Gateway, asked *Call, late chan struct{}) *invocation {
	call := *asked
	call.Target = nil
	if call.ID == "" {
		call.ID = NewCallID()
	}
	outer, _ := ctx.Value(invocationKey{}).(*invocation)
	if outer != nil {
		call.Parent = cmp.Or(call.Parent, outer.request.Call.ID)
	}
	p := &invocation{
		g: g, outer: outer, request: &Request{Call: &call}, started: time.Now(), clock: newClock(DefaultTimeout, late),
		done: make(chan callResult, 1), recordToken: make(chan struct{}, 1), stage: StageFinding, timeout: DefaultTimeout, entry: receivedEntry(&call),
	}
	if outer != nil {
		p.request.Outer = outer.request
	}
	p.callIDs = p.callChain()
	p.request.Sandboxed, _ = ctx.Value(sandboxKey{}).(bool)
	p.attachContext(ctx)
	return p
}

// attachContext has the call go on by the context of whoever makes it. How far one within another
// is, that other's Action tells.
func (p *invocation) attachContext(ctx context.Context) {
	if p.outer != nil {
		ctx = context.WithValue(ctx, progressKey{}, (*progress)(nil))
	}
	p.mu.Lock()
	p.ctx = ctx
	p.mu.Unlock()
	p.progress, _ = ctx.Value(progressKey{}).(*progress)
	p.waitHook, _ = ctx.Value(waitHookKey{}).(func())
}

// wait returns what becomes of the call, by its deadline at the latest.
func (p *invocation) wait() callResult {
	select {
	case e := <-p.done:
		return e
	case <-p.clock.late:
	case <-p.ctx.Done():
		select {
		case e := <-p.done:
			return e
		case <-time.After(lateGrace):
		}
	}
	if p.trySettle() {
		left := p.cancel()
		go p.conclude(callResult{err: left}, left.Message, left)
	}
	return p.finalResult()
}

// finalResult returns what becomes of a call that ends now.
func (p *invocation) finalResult() callResult {
	select {
	case e := <-p.done:
		return e
	case <-time.After(recordTimeout):
	}
	return callResult{err: outcomeNotRecorded(recordFailed(errors.New("the journal does not answer")), p.cancel())}
}

// endEarly ends a call that does not go on, without its goroutine.
func (p *invocation) endEarly(why *Error) {
	if p.trySettle() {
		go p.conclude(callResult{err: why}, why.Message, why)
	}
}

// trySettle reports whether the one who asks is to say how the call ended.
func (p *invocation) trySettle() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	first := !p.settled
	p.settled = true
	return first
}

// cancel is the error of a call that is left behind where it is.
func (p *invocation) cancel() *Error {
	p.mu.Lock()
	at, ran, v := p.stage, p.actionStarted, p.slot
	p.mu.Unlock()
	if why := p.stopCause(); why != nil {
		if ran && v != nil {
			v.markAbandoned(false)
		}
		return p.stoppedError(why, nil)
	}
	if cause := p.ctx.Err(); cause != nil && !errors.Is(cause, context.DeadlineExceeded) {
		if ran && v != nil {
			v.markAbandoned(false)
		}
		if ran {
			e := *AsError(cause)
			if p.onlyReads() {
				e.Delivery = NotDelivered
			}
			return &e
		}
		return cancelledBeforeRun(cause)
	}
	if ran && v != nil {
		v.markAbandoned(true)
	}
	return p.timeoutError(at, ran)
}

// onlyReads reports whether the tool only reads by the way it works, so that nothing can have
// come of the call. An app whose descriptor says that a tool reads may have done anything.
func (p *invocation) onlyReads() bool {
	t := p.request.Tool
	return t != nil && t.Effect == Reads && t.EffectInherent && !t.MayStartProgram
}

// withDelivery is an Action's error that says of the delivery what may have happened: one that
// says nothing of it, of a call that does not only read, may have come after something
// was sent.
func (p *invocation) withDelivery(e *Error) *Error {
	if e.Delivery != "" || p.onlyReads() {
		return e
	}
	said := *e
	said.Delivery = DeliveryUnknown
	return &said
}

// timeoutError is the error of a call whose time was over at a stage.
func (p *invocation) timeoutError(at Stage, ran bool) *Error {
	p.mu.Lock()
	app, target := p.entry.App, p.entry.Target
	took := min(p.timeout, time.Since(p.started)).Round(time.Millisecond)
	p.mu.Unlock()
	if ran && p.onlyReads() {
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
		Message:  fmt.Sprintf("the call's time was over after %s, at %s; nothing was run", took, at.description()),
		Hint:     "Call again, and later if many calls are open.",
		Delivery: NotDelivered,
	}
	if at == StageQueueing {
		e.Message = fmt.Sprintf("other calls to %s took until the deadline; nothing was run", cmp.Or(target, app))
	}
	return e
}

// run passes the stages and says how the call ended, unless Do has done so.
func (p *invocation) run(stages func() (*Result, *Error)) {
	e := callResult{err: &Error{
		Code: Internal, Message: "the tool " + CleanLabel(p.request.Call.Tool, maxName) + " ended without an answer", Delivery: DeliveryUnknown,
	}}
	defer func() {
		if v := recover(); v != nil {
			e = callResult{err: panicked(v)}
		}
		p.complete(e)
		p.releaseContext()
	}()
	e.result, e.err = stages()
}

// complete takes out of an error what must not be said, and concludes the call.
func (p *invocation) complete(e callResult) {
	var said string
	var told *Error
	if e.err != nil {
		e.result = nil
		if why := p.stopCause(); why != nil && e.err.Code != RecordFailed {
			e.err = p.stoppedError(why, e.err)
		}
		if p.onlyReads() && e.err.Delivery == DeliveryUnknown {
			harmless := *e.err
			harmless.Delivery = NotDelivered
			e.err = &harmless
		}
		said, told = p.request.redactError(e.err)
	}
	if p.trySettle() {
		p.conclude(e, said, told)
	}
}

// conclude puts the outcome on record and ends the call: told is the error as the
// caller may have it, said what it says on record.
func (p *invocation) conclude(e callResult, said string, told *Error) {
	var late *Error
	if !p.isRecordedRefresh(e) {
		late = p.record(p.outcome(e, said))
	}
	p.notifyMutation(e)
	if late != nil && e.result != nil && p.request.allowsUnaudited() {
		e.result = e.result.withUnrecordedWarning(late)
	} else if late != nil {
		e = callResult{err: outcomeNotRecorded(late, e.err)}
	} else if told != nil {
		e.err = told
	}
	p.request.release()
	p.clock.alarm.Stop()
	p.done <- e
}

// enterStage notes that the call has come to a stage, and reports whether it goes on: not
// where Do has left it behind, nor where a person has stopped it.
func (p *invocation) enterStage(s Stage) bool {
	if p.waitHook != nil && (s == StageAsking || s == StageQueueing) {
		p.waitHook()
	}
	p.mu.Lock()
	p.stage = s
	settled := p.settled
	p.mu.Unlock()
	p.g.notifyStageChange()
	if s == StageGating || s == StageQueueing { // the next stage looks, before anything comes of it
		return !settled
	}
	return !settled && p.checkStop() == nil
}

// beginAction notes that the Action is about to run, and reports whether it may.
func (p *invocation) beginAction() bool {
	defer p.g.notifyStageChange()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.settled {
		return false
	}
	p.stage, p.actionStarted = StageActing, true
	if p.slot != nil {
		p.slot.since = time.Now()
	}
	return true
}

// WithSandbox returns a context in which calls may only read, and the calls within those:
// the gate of modes judges them as if the mode were the strictest.
func WithSandbox(ctx context.Context) context.Context {
	return context.WithValue(ctx, sandboxKey{}, true)
}

type (
	invocationKey struct{}
	sandboxKey    struct{}
	waitHookKey   struct{}
)

// WithWaitHook returns a context in which f is called when what remains of a call is to
// wait: for a person, for other calls, for the app. A door that lets few calls of a
// caller begin at a time lets the next one begin then. F is called from the call's
// goroutine, perhaps several times, and must not block; of a call that is refused
// before, not at all.
func WithWaitHook(ctx context.Context, f func()) context.Context {
	return context.WithValue(ctx, waitHookKey{}, f)
}

// update changes what is known of the call.
func (p *invocation) update(f func(p *invocation)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f(p)
}
