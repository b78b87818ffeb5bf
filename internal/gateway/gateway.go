package gateway

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway/actionctx"
)

// A Gateway runs calls: it joins the catalog, the gates, the journal and the call queues. The
// zero Gateway runs nothing.
type Gateway struct {
	Catalog          aai.Catalog
	Gates            []aai.Gate       // in order; without gates no call is admitted
	Journal          aai.Journal      // a call that cannot be recorded does not run
	Dialog           aai.Asker        // shows questions for DesktopDialog; may be nil
	Meter            aai.Meter        // counts received calls; may be nil
	MutationObserver MutationObserver // receives mutations; may be nil
	Stops            StopChecker      // knows the stopped calls; nil: calls cannot be stopped
	Secrets          PersonSecrets    // fills {{secret:NAME}}; nil: there are none
	Claims           Claims           // coordinates with the person's other gateways; may be nil
	Pause            PauseFunc        // makes calls wait while the person works where they act; may be nil
	OnActiveChange   func()           // runs when a call begins, changes or ends; must be quick; may be nil

	dialogLock      dialogMutex // one call at a time uses Dialog
	queues          queues
	active          invocations // the active calls
	results         resultMemory
	recentReads     recentReads
	journalWritable atomic.Bool // the last check or write of the journal succeeded
	lastWriteFailed atomic.Bool // the last write failed
}

// Do runs one call through all stages: receive, resolve, validate, gate, queue, record the
// intent, run, record the outcome. It returns by the tool's deadline even if the app hangs; the
// time for a person's answer is counted separately. A panic becomes an error of this call alone.
// The error is always an *Error. A call that needs a person's consent returns CONSENT_REQUIRED
// with Error.Questions; repeat it with Call.Answers. Do is safe for concurrent use.
//
// Do of a call equals [Gateway.Admit] of it, followed by [Admission.Run] at once.
func (g *Gateway) Do(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	p := newInvocation(ctx, g, call, make(chan struct{}, 1))
	defer p.register()()
	defer p.heartbeat()()
	go p.run(p.stages)
	e := p.wait()
	if e.err != nil {
		return nil, e.err
	}
	return e.result, nil
}

// stages runs the stages of Do between receipt and outcome. It completes the request.
func (p *invocation) stages() (*aai.Result, *aai.Error) {
	defer time.AfterFunc(receivedDelay, p.recordLongRunning).Stop()
	defer p.clock.cancelContext()
	if err := p.prepare(); err != nil {
		return nil, err
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	if len(p.openQuestions) > 0 {
		if _, err := askPerson([]*invocation{p}); err != nil {
			return nil, err
		}
	}
	return p.act()
}

// prepare runs the stages before the gates.
func (p *invocation) prepare() *aai.Error {
	if err := p.receive(); err != nil {
		return err
	}
	if !p.enterStage(StageFinding) {
		return p.cancel()
	}
	for _, stage := range []func() *aai.Error{p.resolve, p.validate, p.resolveTarget, p.resolveSecrets} {
		if err := stage(); err != nil {
			return err
		}
	}
	if p.journalError != nil && !allowsUnaudited(p.request) {
		return p.journalError
	}
	return nil
}

// receive counts the call before it is decoded, and checks that the journal can be written. A
// call that cannot be recorded does not run, and fetches no descriptor from a site.
func (p *invocation) receive() *aai.Error {
	call := p.request.Call
	if !p.g.journalWritable.Load() {
		if j, ok := p.g.Journal.(aai.ReadyJournal); ok {
			if err := j.Ready(p.ctx); err != nil {
				p.journalError = recordFailed(err)
			}
		}
		p.g.journalWritable.Store(p.journalError == nil)
	}
	if p.g.lastWriteFailed.Load() && p.journalError == nil {
		p.journalError = p.record(func(e *aai.Entry) { e.Kind, e.Time = aai.Received, time.Now() })
	}
	if p.journalError != nil && (call.App != aai.BuiltinApp || call.Caller.Door != aai.DoorCLI) {
		return p.journalError
	}
	if p.g.Meter != nil {
		if err := p.g.Meter.CountReceived(call.Caller, len(call.Raw)); err != nil {
			return aai.AsError(err)
		}
	}
	if call.RequestError != nil {
		return aai.AsError(call.RequestError)
	}
	return nil
}

// resolve finds the app and the tool.
func (p *invocation) resolve() *aai.Error {
	r := p.request
	ctx := p.clock.within(p.ctx)
	if failure := p.deadlineError(ctx, p.g.resolve(ctx, r)); failure != nil {
		return failure
	}
	p.update(func(p *invocation) { p.entry.App, p.entry.Tool, p.targetName = r.App.ID, r.Tool.Name, firstName(r.App) })
	if r.Tool.Run == nil {
		return unsupported(r)
	}
	p.clock.limit(p.effectiveTimeout(r.Tool))
	p.update(func(p *invocation) { p.timeout = p.effectiveTimeout(r.Tool) })
	return nil
}

// validate decodes and validates the arguments.
func (p *invocation) validate() *aai.Error {
	r := p.request
	if failure := readArgs(r.Tool, r.Call); failure != nil {
		return failure
	}
	if p.hasPlaceholders = containsPlaceholder(r.Call.Args); p.hasPlaceholders && p.admittedCall == nil {
		return aai.Errorf(aai.Internal, "the call has placeholders, which Do cannot resolve")
	}
	return nil
}

// resolveTarget finds the app or program that the call operates.
func (p *invocation) resolveTarget() *aai.Error {
	r := p.request
	ctx := p.clock.within(p.ctx)
	target, err := p.g.findTarget(ctx, r)
	if failure := p.deadlineError(ctx, err); failure != nil {
		return failure
	}
	if err := checkTarget(r.Call, target); err != nil {
		return err
	}
	r.Call.Target = target
	p.update(func(p *invocation) { p.entry.Target, p.targetName = r.Call.Target.ID, firstName(r.Call.Target) })
	return nil
}

// check asks every gate; any refusal is final. Afterwards p.openQuestions holds the questions for
// a person; if it is empty, the call is admitted.
func (p *invocation) check() *aai.Error {
	if !p.enterStage(StageGating) {
		return p.cancel()
	}
	questions, err := p.checkGates(p.clock.within(p.ctx))
	if err != nil {
		return withNeeds(p.request, err)
	}
	if p.openQuestions = questions; len(questions) == 0 {
		p.request.AdmittedPermission = p.request.Permission()
		p.personAsked = p.personAsked || len(p.request.Call.Answers) > 0
	}
	return nil
}

// act runs an admitted call: it waits for the target's queue slot, asks the gates again after a
// wait, records the intent, and runs the Action. The call keeps the slot until release.
func (p *invocation) act() (*aai.Result, *aai.Error) {
	var failure error
	defer func() { p.release(p.clock.within(p.ctx), failure) }()
	if err := p.queue(); err != nil {
		return nil, err
	}
	ctx := p.clock.within(p.ctx)
	if err := p.recordIntent(ctx); err != nil {
		return nil, err
	}
	if ctx.Err() != nil || !p.beginAction() {
		return nil, p.cancel()
	}
	failure = errEndedWithoutAnswer
	result, err := p.runAction(ctx)
	failure = err
	return p.finish(result, aai.AsError(err))
}

// queue waits for the target's queue slot. It runs after questions to a person, so that no
// slot is held meanwhile.
func (p *invocation) queue() *aai.Error {
	if p.clock.within(p.ctx).Err() != nil || !p.enterStage(StageQueueing) {
		return p.cancel()
	}
	paused, err := p.awaitPause()
	if err != nil {
		return err
	}
	ctx := p.clock.within(p.ctx)
	waited, err := p.acquireSlot(ctx)
	if err != nil {
		return err
	}
	if waited || paused || p.personAsked || p.deferred {
		if err := p.recheckGates(ctx); err != nil {
			return err
		}
	}
	args, hit := p.recordedArgs(), p.recordedElement(p.request.Element)
	p.update(func(p *invocation) {
		e := &p.entry
		e.Element = hit
		e.Admitted, e.Effect, e.Digest, e.Consent, e.Args = true, p.request.Effect(), p.request.Digest(), p.request.Consent, args
	})
	return nil
}

// recordIntent records a call that is about to act.
func (p *invocation) recordIntent(ctx context.Context) *aai.Error {
	r := p.request
	if ctx.Err() != nil || !p.enterStage(StageRecording) {
		return p.cancel()
	}
	if r.Effect() == aai.Reads && p.g.Journal != nil {
		return nil
	}
	err := p.record(func(e *aai.Entry) {
		e.Kind, e.Time, e.Durable = aai.Intent, time.Now(), true
		e.Precondition = func() error {
			if why := p.checkStop(); why != nil {
				return stopCause{why}
			}
			return nil
		}
	})
	if err != nil && err.Code == aai.RecordFailed && allowsUnaudited(r) {
		return nil
	}
	return err
}

// runAction runs the tool's Action until the context's deadline. Actions on windows, Actions that
// make calls, those of a server and those with secrets get a context that can pause while they wait for
// the person. The outcome has no credentials and no secrets of the person.
func (p *invocation) runAction(ctx context.Context) (*aai.Result, error) {
	if until, ok := ctx.Deadline(); ok && (p.request.App.OperatesOthers() || p.request.Assessment().OnlyMakesCalls || p.request.App.Server != nil || len(p.request.Secrets) > 0) {
		w, end := actionctx.WithPauses(p.ctx, until, dialogQueueTimeout+AskTimeout, func(left time.Duration) { p.clock.alarm.Reset(max(0, left) + lateGrace) })
		defer func() { p.clock.total += end() }()
		ctx = w
	}
	ctx = actionctx.WithStopCheck(context.WithValue(ctx, invocationKey{}, p), p.checkStopBetween)
	call, err := p.filledCall(ctx)
	if err != nil {
		return nil, err
	}
	return p.withoutCredentials(p.request.Tool.Run(ctx, call))
}

// complete redacts the error and concludes the call.
func (p *invocation) complete(e callResult) {
	var said string
	var told *aai.Error
	if e.err != nil {
		e.result = nil
		if why := p.stopCause(); why != nil && e.err.Code != aai.RecordFailed {
			e.err = p.stoppedError(why, e.err)
		}
		if p.onlyReads() && e.err.Delivery == aai.DeliveryUnknown {
			harmless := *e.err
			harmless.Delivery = aai.NotDelivered
			e.err = &harmless
		}
		said, told = p.redactError(e.err)
	}
	if p.trySettle() {
		p.conclude(e, said, told)
	}
}

// conclude records the outcome and ends the call: told is the error for the caller, said the
// message for the journal.
func (p *invocation) conclude(e callResult, said string, told *aai.Error) {
	var late *aai.Error
	if !p.isRecordedRefresh(e) {
		late = p.record(p.outcome(e, said))
	}
	p.notifyMutation(e)
	if late != nil && e.result != nil && allowsUnaudited(p.request) {
		e.result = withUnrecordedWarning(e.result, late)
	} else if late != nil {
		e = callResult{err: outcomeNotRecorded(late, e.err)}
	} else if told != nil {
		e.err = told
	}
	p.request.Release()
	p.clock.alarm.Stop()
	p.done <- e
}
