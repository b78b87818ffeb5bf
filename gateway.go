package aai

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// A Catalog provides the apps. It is safe for concurrent use.
type Catalog interface {
	// Apps returns every app, ordered by id.
	Apps() []*App
	// Find returns the app that has name as its id, wire name, alias or display name. Otherwise it
	// returns an *Error, such as APP_NOT_FOUND with the nearest names as candidates.
	Find(ctx context.Context, name string) (*App, error)
	// OnChange calls f after every change of the list of apps, until stop is called.
	OnChange(f func()) (stop func())
}

// A Gate decides whether a call may run. It never talks to people: it returns questions, and
// finds the answers in Request.Call.Answers when the call is made again. A Gate is safe for
// concurrent use.
type Gate interface {
	// Check checks a request: it admits it (nil, nil), returns questions, or refuses it
	// with an *Error.
	Check(ctx context.Context, r *Request) ([]Question, error)
}

// A QuestionMerger is a Gate that can merge its questions about several calls into one.
type QuestionMerger interface {
	Gate
	// MergeQuestions returns one question that replaces the asked ones, which concern different
	// requests and share an ID. It returns false if each must be asked. The check of each request
	// receives the answer.
	MergeQuestions(asked []PendingQuestion) (q Question, joined bool)
}

// PendingQuestion is a gate's unanswered question about a request.
type PendingQuestion struct {
	Request  *Request
	Question Question
}

// A Journal stores entries. It is safe for concurrent use.
type Journal interface {
	// Record stores the entry before it returns; an entry with Durable set is on disk by then.
	Record(ctx context.Context, e *Entry) error
}

// A ReadyJournal can report beforehand whether an entry could be stored. Do calls Ready before
// the first call, and again after a failed write.
type ReadyJournal interface {
	Journal
	Ready(ctx context.Context) error
}

// A Meter counts calls on receipt, before they are decoded. It is safe for concurrent use.
type Meter interface {
	// CountReceived counts a call with the given bytes of arguments, or refuses it with an
	// *Error.
	CountReceived(c Caller, bytes int) error
}

// A Gateway runs calls: it joins the catalog, the gates, the journal and the call queues. The
// zero Gateway runs nothing.
type Gateway struct {
	Catalog          Catalog
	Gates            []Gate           // in order; without gates no call is admitted
	Journal          Journal          // a call that cannot be recorded does not run
	Dialog           Asker            // shows questions for DesktopDialog; may be nil
	Meter            Meter            // counts received calls; may be nil
	MutationObserver MutationObserver // receives mutations; may be nil
	Stops            StopChecker      // knows the stopped calls; nil: calls cannot be stopped
	Claims           Claims           // coordinates with the person's other gateways; may be nil
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
func (g *Gateway) Do(ctx context.Context, call *Call) (*Result, error) {
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
func (p *invocation) stages() (*Result, *Error) {
	defer time.AfterFunc(receivedDelay, p.recordLongRunning).Stop()
	defer p.clock.cancelContext()
	if err := p.prepare(); err != nil {
		return nil, err
	}
	if err := p.gate(); err != nil {
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
func (p *invocation) prepare() *Error {
	if err := p.receive(); err != nil {
		return err
	}
	if !p.enterStage(StageFinding) {
		return p.cancel()
	}
	if err := p.resolve(); err != nil {
		return err
	}
	if p.journalError != nil && !p.request.allowsUnaudited() {
		return p.journalError
	}
	return nil
}

// gate asks every gate; any refusal is final. Afterwards p.openQuestions holds the questions for
// a person; if it is empty, the call is admitted.
func (p *invocation) gate() *Error {
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
func (p *invocation) act() (*Result, *Error) {
	var failure error
	defer func() { p.release(p.clock.within(p.ctx), failure) }()
	if err := p.waitForSlot(); err != nil {
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
	return p.finish(result, AsError(err))
}

// receive counts the call before it is decoded, and checks that the journal can be written. A
// call that cannot be recorded does not run, and fetches no descriptor from a site.
func (p *invocation) receive() *Error {
	call := p.request.Call
	if !p.g.journalWritable.Load() {
		if j, ok := p.g.Journal.(ReadyJournal); ok {
			if err := j.Ready(p.ctx); err != nil {
				p.journalError = recordFailed(err)
			}
		}
		p.g.journalWritable.Store(p.journalError == nil)
	}
	if p.g.lastWriteFailed.Load() && p.journalError == nil {
		p.journalError = p.record(func(e *Entry) { e.Kind, e.Time = Received, time.Now() })
	}
	if p.journalError != nil && (call.App != BuiltinApp || call.Caller.Door != DoorCLI) {
		return p.journalError
	}
	if p.g.Meter != nil {
		if err := p.g.Meter.CountReceived(call.Caller, len(call.Raw)); err != nil {
			return AsError(err)
		}
	}
	if call.RequestError != nil {
		return AsError(call.RequestError)
	}
	return nil
}

// resolve finds the app, the tool and the target, and decodes the arguments.
func (p *invocation) resolve() *Error {
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
	if failure := readArgs(r.Tool, r.Call); failure != nil {
		return failure
	}
	if p.hasPlaceholders = containsPlaceholder(r.Call.Args); p.hasPlaceholders && p.admittedCall == nil {
		return Errorf(Internal, "the call has placeholders, which Do cannot resolve")
	}
	ctx = p.clock.within(p.ctx)
	target, err := p.g.findTarget(ctx, r)
	if failure := p.deadlineError(ctx, err); failure != nil {
		return failure
	}
	if err := r.Call.checkTarget(target); err != nil {
		return err
	}
	r.Call.Target = target
	p.update(func(p *invocation) { p.entry.Target, p.targetName = r.Call.Target.ID, firstName(r.Call.Target) })
	return nil
}

// waitForSlot waits for the target's queue slot. It runs after questions to a person, so that no
// slot is held meanwhile.
func (p *invocation) waitForSlot() *Error {
	ctx := p.clock.within(p.ctx)
	if ctx.Err() != nil || !p.enterStage(StageQueueing) {
		return p.cancel()
	}
	waited, err := p.acquireSlot(ctx)
	if err != nil {
		return err
	}
	if waited || p.personAsked || p.deferred {
		if err := p.recheckGates(ctx); err != nil {
			return err
		}
	}
	args, hit := p.request.hashedArgs(), p.request.Element.sanitized(p.request)
	p.update(func(p *invocation) {
		e := &p.entry
		e.Element = hit
		e.Admitted, e.Effect, e.Digest, e.Consent, e.Args = true, p.request.Effect(), p.request.Digest(), p.request.Consent, args
	})
	return nil
}

// recheckGates asks the gates again when the call has its slot. A target element may have changed
// its name during the wait, and after a deferred admission anything may have changed. Gates may
// admit or refuse; no person is asked.
func (p *invocation) recheckGates(ctx context.Context) *Error {
	r := p.request
	if !r.App.OperatesOthers() && !p.deferred {
		return nil
	}
	was := r.Element
	r.Destructive, r.DestructiveReason, r.RunsCommand = false, "", false
	questions, err := p.checkGates(ctx)
	if err == nil && r.Destructive && len(r.Call.Answers) > 0 && was.Role != "" && !r.Element.equal(was) {
		return r.targetChanged(r.Element)
	}
	if err != nil || len(questions) == 0 {
		return err
	}
	return consentChanged(r)
}

// checkGates asks every gate, until the context ends.
func (p *invocation) checkGates(ctx context.Context) ([]Question, *Error) {
	questions, err := p.g.checkGates(ctx, p.request)
	if failure := p.deadlineError(ctx, err); failure != nil {
		return nil, failure
	}
	if ctx.Err() != nil {
		return nil, p.cancel()
	}
	return questions, nil
}

func (g *Gateway) checkGates(ctx context.Context, r *Request) ([]Question, error) {
	if len(g.Gates) == 0 {
		return nil, Errorf(PermissionDenied, "this gateway has no gates, so it admits nothing")
	}
	var questions []Question
	for _, gate := range g.Gates {
		asked, err := gate.Check(ctx, r)
		if err != nil {
			return nil, err
		}
		questions = append(questions, asked...)
	}
	return questions, nil
}

// deadlineError returns the error of a stage: that of the deadline if the deadline caused it.
func (p *invocation) deadlineError(ctx context.Context, failure error) *Error {
	if _, said := errors.AsType[*Error](failure); failure != nil && !said && ctx.Err() != nil {
		return p.cancel()
	}
	return AsError(failure)
}

func foregroundTimeout(tool *Tool) time.Duration {
	if tool.Timeout <= 0 {
		return DefaultTimeout
	}
	return tool.Timeout
}

// recordIntent records a call that is about to act.
func (p *invocation) recordIntent(ctx context.Context) *Error {
	r := p.request
	if ctx.Err() != nil || !p.enterStage(StageRecording) {
		return p.cancel()
	}
	if r.Effect() == Reads && p.g.Journal != nil {
		return nil
	}
	err := p.record(func(e *Entry) {
		e.Kind, e.Time, e.Durable = Intent, time.Now(), true
		e.Precondition = func() error {
			if why := p.checkStop(); why != nil {
				return stopCause{why}
			}
			return nil
		}
	})
	if err != nil && err.Code == RecordFailed && r.allowsUnaudited() {
		return nil
	}
	return err
}

// runAction runs the tool's Action until the context's deadline. Actions on windows, Actions that
// make calls, and those of a server get a context that can pause while they wait for the person. The
// outcome has no credentials.
func (p *invocation) runAction(ctx context.Context) (*Result, error) {
	if until, ok := ctx.Deadline(); ok && (p.request.App.OperatesOthers() || p.request.Tool.OnlyMakesCalls || p.request.App.Server != nil) {
		w, end := newPausableContext(p.ctx, until, p.clock.alarm)
		defer func() { p.clock.total += end() }()
		ctx = w
	}
	return p.withoutCredentials(p.request.Tool.Run(context.WithValue(ctx, invocationKey{}, p), p.request.Call))
}

// resolve finds the app and the tool that the call names.
func (g *Gateway) resolve(ctx context.Context, r *Request) (err error) {
	if g.Catalog == nil {
		return Errorf(AppNotFound, "this gateway has no catalog of apps")
	}
	if r.App, err = g.Catalog.Find(ctx, r.Call.App); err != nil {
		return err
	}
	if r.Tool = r.App.Tool(r.Call.Tool); r.Tool == nil {
		return toolNotFound(r.App, r.Call.Tool)
	}
	return nil
}

// findTarget returns the app or program that the call operates.
func (g *Gateway) findTarget(ctx context.Context, r *Request) (*App, error) {
	if r.Tool.Target == "" {
		return r.App, nil
	}
	value, given := r.Call.Args[r.Tool.Target]
	if !given && r.App.OperatesOthers() {
		return r.App, nil // the whole screen
	}
	name, ok := value.(string)
	if !ok || name == "" {
		return nil, Errorf(InvalidParams, "%s: expected the name of an app", r.Tool.Target)
	}
	if !r.App.OperatesOthers() {
		return g.Catalog.Find(ctx, name)
	}
	target, err := r.App.FindTarget(ctx, r.Call, name)
	if target == nil && err == nil {
		err = Errorf(AppNotFound, "there is no app %q", CleanLabel(name, maxName))
	}
	return target, err
}
