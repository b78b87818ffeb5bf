package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
)

const (
	// receivedDelay is the time after which an unrecorded call is recorded as received. A call
	// that ends sooner needs only one line.
	receivedDelay = time.Second
	// recordTimeout is the time that Do waits for the last line of a call. The journal's own lock
	// timeout is shorter.
	recordTimeout = 10 * time.Second
)

// An invocation holds the state of one call while the gateway runs it. The stages run in a
// separate goroutine, so that Do returns in time even if a stage hangs. After that, the goroutine
// starts no further stage.
type invocation struct {
	g        *Gateway
	request  *aai.Request    // only for the goroutine
	outer    *invocation     // the call with the Action that makes this one; nil for a call from a door
	ctx      context.Context // changed under mu
	callIDs  []string        // its id and those of its enclosing calls; see callChain
	clock    *clock
	done     chan callResult
	progress *progress // receiver of progress; may be nil
	waitHook func()    // runs when only waiting remains; may be nil
	lines              // its lines in the journal
	asking             // its questions to the person
	admitted           // its admission, if that is apart from its run
	secrets            // texts that its messages must not contain

	mu       sync.Mutex // guards the fields below
	entry    aai.Entry  // the data for its records
	status              // what others see of it
	stop                // a person's stop
	slot     *slot      // in the target's queue
	settled  bool       // the final result is claimed by the goroutine or by Do
	reserved int        // bytes of memory for its result
}

// status is the part of a call that progress reports and lists of active calls show.
type status struct {
	started      time.Time // constant
	stage        Stage
	lastProgress progressState // the last progress of the Action
	targetName   string        // display name of the target
	timeout      time.Duration // time limit of the tool
	element      aai.TargetElement
}

// ran reports whether the Action has begun.
func (s *status) ran() bool { return s.stage == StageActing }

// A callResult is the outcome of a call.
type callResult struct {
	result *aai.Result
	err    *aai.Error
}

func newInvocation(ctx context.Context, g *Gateway, asked *aai.Call, late chan struct{}) *invocation {
	call := *asked
	call.Target = nil
	if call.ID == "" {
		call.ID = aai.NewCallID()
	}
	outer, _ := ctx.Value(invocationKey{}).(*invocation)
	if outer != nil {
		call.Parent = cmp.Or(call.Parent, outer.request.Call.ID)
	}
	p := &invocation{
		g: g, outer: outer, request: &aai.Request{Call: &call}, clock: newClock(aai.DefaultTimeout, late),
		done: make(chan callResult, 1), lines: lines{token: make(chan struct{}, 1)}, status: status{started: time.Now(), stage: StageFinding, timeout: aai.DefaultTimeout}, entry: receivedEntry(&call),
	}
	if outer != nil {
		p.request.Outer = outer.request
	}
	p.callIDs = p.callChain()
	p.request.Sandboxed, _ = ctx.Value(sandboxKey{}).(bool)
	p.attachContext(ctx)
	return p
}

// attachContext sets the context of the caller. A nested call reports no progress to the door;
// the outer Action does.
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

// wait returns the result of the call, at its deadline at the latest.
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

// finalResult returns the result of a call that is ending.
func (p *invocation) finalResult() callResult {
	select {
	case e := <-p.done:
		return e
	case <-time.After(recordTimeout):
	}
	return callResult{err: outcomeNotRecorded(recordFailed(errors.New("the journal does not answer")), p.cancel())}
}

// endEarly settles the call with the error why, unless it is already settled. It does not wait
// until the outcome is recorded.
func (p *invocation) endEarly(why *aai.Error) {
	if p.trySettle() {
		go p.conclude(callResult{err: why}, why.Message, why)
	}
}

// trySettle reports whether its caller is the first, and so determines the result of the call.
func (p *invocation) trySettle() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	first := !p.settled
	p.settled = true
	return first
}

// cancel returns the error of a call that is abandoned at its current stage.
func (p *invocation) cancel() *aai.Error {
	p.mu.Lock()
	at, ran, v := p.stage, p.ran(), p.slot
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
			e := *aai.AsError(cause)
			if p.onlyReads() {
				e.Delivery = aai.NotDelivered
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

// onlyReads reports whether the tool's mechanism only reads, so that the call had no effect. A
// tool that is merely declared as reading may have had any.
func (p *invocation) onlyReads() bool {
	t := p.request.Tool
	return t != nil && t.Effect == aai.Reads && t.Assessment(nil).EffectInherent && !t.Assessment(nil).MayStartProgram
}

// withDelivery returns the Action's error with Delivery set. If the Action set none and may
// change something, the request may have been sent.
func (p *invocation) withDelivery(e *aai.Error) *aai.Error {
	if e.Delivery != "" || p.onlyReads() {
		return e
	}
	said := *e
	said.Delivery = aai.DeliveryUnknown
	return &said
}

// deadlineError returns the error of a stage: that of the deadline if the deadline caused it.
func (p *invocation) deadlineError(ctx context.Context, failure error) *aai.Error {
	if _, said := errors.AsType[*aai.Error](failure); failure != nil && !said && ctx.Err() != nil {
		return p.cancel()
	}
	return aai.AsError(failure)
}

// timeoutError returns the error of a call that reached its time limit at a stage.
func (p *invocation) timeoutError(at Stage, ran bool) *aai.Error {
	p.mu.Lock()
	app, target := p.entry.App, p.entry.Target
	took := min(p.timeout, time.Since(p.started)).Round(time.Millisecond)
	p.mu.Unlock()
	if ran && p.onlyReads() {
		return &aai.Error{
			Code:     aai.Timeout,
			Message:  fmt.Sprintf("%s did not answer within %s; the call only reads", app, took),
			Hint:     "Call again; nothing was done.",
			Delivery: aai.NotDelivered,
		}
	}
	if ran {
		return &aai.Error{
			Code:     aai.Timeout,
			Message:  fmt.Sprintf("%s did not answer within %s", app, took),
			Hint:     "The app may still be working on it. Look at its state before you try again.",
			Delivery: aai.DeliveryUnknown,
		}
	}
	e := &aai.Error{
		Code:     aai.Timeout,
		Message:  fmt.Sprintf("the call timed out after %s, at %s; nothing was run", took, at.description()),
		Hint:     "Call again, and later if many calls are open.",
		Delivery: aai.NotDelivered,
	}
	if at == StageQueueing {
		e.Message = fmt.Sprintf("other calls to %s took until the deadline; nothing was run", cmp.Or(target, app))
	}
	return e
}

// run executes the stages and concludes the call, unless Do has done so.
func (p *invocation) run(stages func() (*aai.Result, *aai.Error)) {
	e := callResult{err: &aai.Error{
		Code: aai.Internal, Message: "the tool " + aai.CleanLabel(p.request.Call.Tool, maxName) + " ended without an answer", Delivery: aai.DeliveryUnknown,
	}}
	defer func() {
		if v := recover(); v != nil {
			e = callResult{err: panicked(v)}
		}
		p.complete(e)
		p.releaseContext()
		p.releaseResult()
	}()
	GrowStack()
	e.result, e.err = stages()
}

// enterStage sets the stage of the call, and reports whether it may continue: not if Do has
// abandoned it or a person has stopped it.
func (p *invocation) enterStage(s Stage) bool {
	if p.waitHook != nil && (s == StageAsking || s == StageQueueing) {
		p.waitHook()
	}
	p.mu.Lock()
	p.stage = s
	settled := p.settled
	p.mu.Unlock()
	p.g.notifyStageChange()
	if s == StageGating || s == StageQueueing { // the next stage checks for a stop before any effect
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
	p.stage = StageActing
	if p.slot != nil {
		p.slot.since = time.Now()
	}
	return true
}

// IsSandboxed reports whether the context is one of [WithSandbox].
func IsSandboxed(ctx context.Context) bool { return ctx.Value(sandboxKey{}) != nil }

// WithSandbox returns a context in which calls, including nested ones, may only read: the mode
// gate applies the strictest mode.
func WithSandbox(ctx context.Context) context.Context {
	return context.WithValue(ctx, sandboxKey{}, true)
}

type (
	invocationKey struct{}
	sandboxKey    struct{}
	waitHookKey   struct{}
)

// WithWaitHook returns a context in which f is called when only waiting remains: for a person,
// for other calls, or for the app. A door with a limit on starting calls can then start the next
// one. The call's goroutine calls f, perhaps several times, and not at all if the call is refused
// earlier; f must not block.
func WithWaitHook(ctx context.Context, f func()) context.Context {
	return context.WithValue(ctx, waitHookKey{}, f)
}

// update runs f with p.mu held.
func (p *invocation) update(f func(p *invocation)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f(p)
}
