package gateway

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gybob/aai-gateway"
)

// admissionLifetime is the time that admitted calls may wait to be run. A person's consent
// applies to the state that the person sees.
const admissionLifetime = 10 * time.Minute

// An Admission permits each of its calls to run once by [Admission.Run], or several times by
// [Admission.Repeat]. It holds the reservations of gates, such as slots of a limit, but no queue
// slot, and starts nothing by itself. It ends with its context, and after ten minutes or at the
// context's deadline, whichever is later. The caller of Admit must release it. It is safe for
// concurrent use.
type Admission struct {
	calls       []*invocation
	currentCall atomic.Pointer[invocation] // being processed
	ended       chan *invocation           // receives the refused call, or nil

	mu        sync.Mutex
	started   []bool     // of each call: it runs, ran, or never will
	endReason *aai.Error // the reason why the remaining calls never run
	// closeReason is the reason why no call may begin any more, or nil.
	closeReason *aai.Error
	stop        []func() bool
}

// admitted is the part of a call that was admitted apart from its run.
type admitted struct {
	admittedCall     *aai.Call                          // the call as admitted; nil for a call that runs at once
	deferred         bool                               // admitted with others, to run later; only for the goroutine
	base             *invocation                        // the call that this one was admitted with, or nil
	isUndo           bool                               // it reverts base
	hasPlaceholders  bool                               // Args contain placeholders; only for the goroutine
	placeholderValue func(aai.Placeholder) (any, error) // resolves its placeholders; may be nil
}

// Admit admits calls to run later. All are received, resolved and validated; then every gate
// checks each; then the person is asked about all of them in one round. If one is refused, none
// is admitted, the error is that of the refused call, and each is recorded. Calls that need a
// person's consent return CONSENT_REQUIRED with Error.Questions; admit them again with the
// answers in each. An Action that makes calls admits the known ones before it runs the first.
func (g *Gateway) Admit(ctx context.Context, calls ...*aai.Call) (*Admission, error) {
	a := &Admission{ended: make(chan *invocation, 1), started: make([]bool, len(calls))}
	if len(calls) == 0 {
		return a, nil
	}
	late := make(chan struct{}, 1)
	for _, call := range calls {
		p := newInvocation(ctx, g, call, late)
		p.clock.pause()
		p.admittedCall, p.request.Deferred = call, true
		a.calls = append(a.calls, p)
	}
	a.currentCall.Store(a.calls[0])
	defer a.calls[0].heartbeat()()
	go a.run()
	if err := a.wait(ctx, late); err != nil {
		return nil, err
	}
	life := admissionLifetime
	if until, ok := ctx.Deadline(); ok {
		life = max(life, time.Until(until))
	}
	expire := time.AfterFunc(life, func() {
		e := aai.Errorf(aai.Timeout, "the admitted call did not run within %s", life)
		e.Delivery, e.Hint = aai.NotDelivered, "Request admission again."
		a.end(e)
	})
	left := context.AfterFunc(ctx, func() { a.end(cancelledBeforeRun(ctx.Err())) })
	a.mu.Lock()
	a.stop = []func() bool{expire.Stop, left}
	a.mu.Unlock()
	return a, nil
}

// Run runs the call with index i as [Gateway.Do] does after admission. The target is found again
// and the gates check again, but no person is asked. Each call runs once.
func (a *Admission) Run(ctx context.Context, i int) (*aai.Result, error) {
	if err := a.begin(i); err != nil {
		return nil, err
	}
	return a.calls[i].runAdmitted(ctx)
}

// runAdmitted continues an admitted call.
func (p *invocation) runAdmitted(ctx context.Context) (*aai.Result, error) {
	p.clock = p.clock.continued()
	p.attachContext(ctx)
	defer p.register()()
	defer p.heartbeat()()
	go p.run(p.resume)
	e := p.wait()
	if e.err != nil {
		return nil, e.err
	}
	return e.result, nil
}

// Release releases the reservations of the calls that have not run, and records that they were
// not run.
func (a *Admission) Release() { a.end(cancelledBeforeRun(context.Canceled)) }

// begin marks a call as started.
func (a *Admission) begin(i int) *aai.Error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case i < 0 || i >= len(a.calls):
		return aai.Errorf(aai.Internal, "there is no call %d among the %d that were admitted", i, len(a.calls))
	case !a.started[i]:
		a.started[i] = true
		return nil
	case a.endReason != nil:
		return a.endReason
	}
	return aai.Errorf(aai.Internal, "call %d has run already; an admission is for one run", i)
}

// end ends the calls that have not run.
func (a *Admission) end(why *aai.Error) {
	a.mu.Lock()
	var left []*invocation
	for i, began := range a.started {
		if !began {
			a.started[i] = true
			left = append(left, a.calls[i])
		}
	}
	if len(left) > 0 {
		a.endReason = why
	}
	if a.closeReason == nil {
		a.closeReason = why
	}
	stop := a.stop
	a.stop = nil
	a.mu.Unlock()
	for _, f := range stop {
		f()
	}
	for _, p := range left {
		p.endEarly(why)
	}
	patience := time.After(recordTimeout)
	for _, p := range left {
		select {
		case <-p.done:
		case <-patience:
			return
		}
	}
}

// run admits the calls, and reports the refused one unless Admit has given up. All calls share
// its goroutine.
func (a *Admission) run() {
	var refused *invocation
	err := &aai.Error{Code: aai.Internal, Message: "the calls were neither admitted nor refused", Delivery: aai.NotDelivered}
	defer func() {
		if v := recover(); v != nil {
			err = panicked(v)
		}
		if err != nil && refused == nil {
			refused = a.currentCall.Load()
		}
		for _, p := range a.calls {
			switch {
			case err == nil:
				p.clock.pause()
			case p == refused:
				p.complete(callResult{err: err})
			default:
				p.complete(callResult{err: notAdmittedWithOthers(err)})
			}
		}
		a.ended <- refused
	}()
	refused, err = a.stages()
}

// stages runs the stages up to admission.
func (a *Admission) stages() (*invocation, *aai.Error) {
	for _, p := range a.calls {
		defer time.AfterFunc(receivedDelay, p.recordLongRunning).Stop()
		defer p.clock.cancelContext()
	}
	for _, stage := range []func(*invocation) *aai.Error{(*invocation).prepare, (*invocation).check} {
		if refused, err := forEachCall(a.calls, func(p *invocation) *aai.Error { a.currentCall.Store(p); return stage(p) }); err != nil {
			return refused, err
		}
	}
	var open []*invocation
	for _, p := range a.calls {
		p.deferred = true
		if !p.isDecided() {
			open = append(open, p)
		}
	}
	if len(open) == 0 {
		return nil, nil
	}
	a.currentCall.Store(open[0])
	return askPerson(open)
}

// wait returns the reason why the calls are not admitted, or nil, by the deadline of the current
// call at the latest.
func (a *Admission) wait(ctx context.Context, late chan struct{}) error {
	select {
	case refused := <-a.ended:
		return a.refusal(refused)
	case <-late:
	case <-ctx.Done():
		select {
		case refused := <-a.ended:
			if err := a.refusal(refused); err != nil {
				return err
			}
		case <-time.After(lateGrace):
		}
	}
	current := a.currentCall.Load()
	why := current.cancel()
	current.endEarly(why)
	for _, p := range a.calls {
		p.endEarly(notAdmittedWithOthers(why))
	}
	return a.refusal(current)
}

// refusal returns the error of the refused call, or nil.
func (a *Admission) refusal(refused *invocation) error {
	if refused == nil {
		return nil
	}
	e := *refused.finalResult().err
	if e.Call = refused.request.Call.ID; len(refused.request.Call.Answers) > 0 && (e.Code == aai.PermissionDenied || e.Code == aai.ConsentRequired) {
		e.Call = ""
	}
	return &e
}

// notAdmittedWithOthers returns the error of a call that was not admitted because another was
// refused.
func notAdmittedWithOthers(cause *aai.Error) *aai.Error {
	return &aai.Error{
		Code: cause.Code, Delivery: aai.NotDelivered,
		Message: "the call was not admitted, since another call of its group was not",
		Hint:    "See the error of the other call.",
	}
}

// resume runs the remaining stages of an admitted call.
func (p *invocation) resume() (*aai.Result, *aai.Error) {
	defer time.AfterFunc(receivedDelay, p.recordLongRunning).Stop()
	defer p.clock.cancelContext()
	p.clock.resume()
	p.request.Deferred = false
	if p.placeholderValue != nil {
		if err := p.resolvePlaceholders(); err != nil {
			return nil, err
		}
	}
	arrive := p.resolveAgain
	if p.base != nil {
		arrive = p.resolveRepeat
	}
	if err := arrive(); err != nil {
		return nil, err
	}
	return p.act()
}

// resolveAgain finds the target of a deferred call again. The program may have been started or
// ended since; a different one was not admitted.
func (p *invocation) resolveAgain() *aai.Error {
	r := p.request
	if p.hasPlaceholders {
		if failure := readArgs(r.Tool, r.Call); failure != nil {
			return failure
		}
		if p.hasPlaceholders = containsPlaceholder(r.Call.Args); p.hasPlaceholders {
			return aai.Errorf(aai.Internal, "the call has placeholders, but no values for them")
		}
		if err := p.resolveSecrets(); err != nil {
			return err
		}
	}
	if !r.App.OperatesOthers() {
		return nil
	}
	ctx := p.clock.within(p.ctx)
	target, err := p.g.findTarget(ctx, r)
	if failure := p.deadlineError(ctx, err); failure != nil {
		if len(failure.Questions) > 0 {
			return consentChanged(r)
		}
		return failure
	}
	if target.ID != r.Call.Target.ID || target.Digest != r.Call.Target.Digest {
		return consentChanged(r)
	}
	r.Call.Target = target
	return nil
}
