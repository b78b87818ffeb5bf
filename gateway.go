package aai

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// A Catalog knows the apps. It is safe for concurrent use.
type Catalog interface {
	// Apps returns every app, ordered by id.
	Apps() []*App
	// Find returns the app with the id, alias or wire name, or an *Error with
	// code APP_NOT_FOUND and the nearest names as candidates.
	Find(ctx context.Context, name string) (*App, error)
	// OnChange calls f after every change of the list of apps, until stop.
	OnChange(f func()) (stop func())
}

// A Gate decides whether a call may run. It never talks to people: what a
// person must decide it returns as questions, and finds the answers in
// Request.Call.Answers when the call is made again. A Gate is safe for
// concurrent use.
type Gate interface {
	// Check admits the request (nil, nil), asks, or refuses with an *Error.
	Check(ctx context.Context, r *Request) ([]Question, error)
}

// A Joiner is a Gate that can word what it asks about several calls as one question.
type Joiner interface {
	Gate
	// Join returns the question that stands for those that Check asked about different
	// requests, all with one ID; false where each must be put. Check gets its answer
	// with each of the requests.
	Join(asked []Asked) (q Question, joined bool)
}

// Asked is what a gate asks about a request.
type Asked struct {
	Request  *Request
	Question Question
}

// A Journal keeps what happened. It is safe for concurrent use.
type Journal interface {
	// Record keeps the entry before it returns; one that Entry.Durable says must
	// survive a crash is on disk by then.
	Record(ctx context.Context, e *Entry) error
}

// A ReadyJournal can say beforehand whether an entry could be kept. Do asks it before
// the first call, and again after an entry that was not kept.
type ReadyJournal interface {
	Journal
	Ready(ctx context.Context) error
}

// A Meter counts what callers send, before anything is made of it. It is safe for
// concurrent use.
type Meter interface {
	// Received counts a call with so many bytes of arguments, or refuses it with an *Error.
	Received(c Caller, bytes int) error
}

// A Gateway is the whole product: what apps there are, who may use them, what is remembered,
// and the one way through. The zero Gateway runs nothing.
type Gateway struct {
	Catalog Catalog
	Gates   []Gate  // asked in order; without any, nothing is admitted
	Journal Journal // what cannot be recorded does not run
	Dialog  Asker   // puts native questions; nil where there is none
	Meter   Meter   // counts what comes in; nil: nobody does
	Deeds   Deeds   // hears of what was done; nil: nobody does
	Halt    Halt    // knows what a person has stopped; nil: nobody can stop anything
	Claims  Claims  // take turns with the person's other gateways; nil: there are none
	Moved   func()  // is told when a call begins, comes to another stage, or ends; quick, may be nil

	asking   turns // one call at a time asks by Dialog
	lanes    lanes
	under    passages // the calls under way
	looks    looks
	sure     atomic.Bool // the journal can be written, as far as is known
	doubtful atomic.Bool // the last record failed
}

// Do makes one call, from beginning to end: received, resolve, validate, gate, lane,
// intent, run, outcome. It returns by the tool's deadline whatever the app does; the
// time in which a person is asked is counted apart. It turns a panic into an error of
// this call alone, and its error is always an *Error. A call that a person must allow
// first returns CONSENT_REQUIRED with Error.Questions; make it again with
// Call.Answers. Safe for concurrent use.
//
// It is [Gateway.Admit] of one call, which runs at once.
func (g *Gateway) Do(ctx context.Context, call *Call) (*Result, error) {
	p := newPassage(ctx, g, call, make(chan struct{}, 1))
	defer p.enlist()()
	defer p.beat()()
	go p.travel(p.stages)
	e := p.await()
	if e.err != nil {
		return nil, e.err
	}
	return e.result, nil
}

// stages is Do between what came in and how it ended. It completes the request.
func (p *passage) stages() (*Result, *Error) {
	defer time.AfterFunc(longRead, p.noteLong).Stop()
	defer p.clock.end()
	if err := p.approach(); err != nil {
		return nil, err
	}
	if err := p.gate(); err != nil {
		return nil, err
	}
	if len(p.open) > 0 {
		if _, err := consult([]*passage{p}); err != nil {
			return nil, err
		}
	}
	return p.act()
}

// approach brings a call before the gates.
func (p *passage) approach() *Error {
	if err := p.receive(); err != nil {
		return err
	}
	if !p.at(Finding) {
		return p.abandon()
	}
	if err := p.arrive(); err != nil {
		return err
	}
	if p.unready != nil && !p.r.mayBeUnrecorded() {
		return p.unready
	}
	return nil
}

// gate asks every gate; any refusal is final. What a person must decide first is in
// p.open then; without that, the call is admitted.
func (p *passage) gate() *Error {
	if !p.at(Gating) {
		return p.abandon()
	}
	questions, err := p.inTime(p.clock.within(p.door))
	if err != nil {
		return needing(p.r, err)
	}
	if p.open = questions; len(questions) == 0 {
		p.r.Admitted = p.r.Permission()
		p.asked = p.asked || len(p.r.Call.Answers) > 0
	}
	return nil
}

// act runs what is admitted: it waits for the target's lane, which the call has until it
// departs, lets the gates look again where it had to wait, and puts it on record.
func (p *passage) act() (*Result, *Error) {
	var failure error
	defer func() { p.depart(p.clock.within(p.door), failure) }()
	if err := p.queue(); err != nil {
		return nil, err
	}
	ctx := p.clock.within(p.door)
	if err := p.note(ctx); err != nil {
		return nil, err
	}
	if ctx.Err() != nil || !p.begin() {
		return nil, p.abandon()
	}
	failure = errEndedWithoutAnswer
	result, err := p.run(ctx)
	failure = err
	return p.came(result, AsError(err))
}

// receive counts what came in before anything is made of it, and looks whether it can
// be put on record: what cannot does not run, and asks no site for its descriptor.
func (p *passage) receive() *Error {
	call := p.r.Call
	if !p.g.sure.Load() {
		if j, ok := p.g.Journal.(ReadyJournal); ok {
			if err := j.Ready(p.door); err != nil {
				p.unready = recordFailed(err)
			}
		}
		p.g.sure.Store(p.unready == nil)
	}
	if p.g.doubtful.Load() && p.unready == nil {
		p.unready = p.record(func(e *Entry) { e.Kind, e.Time = Received, time.Now() })
	}
	if p.unready != nil && (call.App != OwnApp || call.Caller.Door != DoorCLI) {
		return p.unready
	}
	if p.g.Meter != nil {
		if err := p.g.Meter.Received(call.Caller, len(call.Raw)); err != nil {
			return AsError(err)
		}
	}
	if call.Fault != nil {
		return AsError(call.Fault)
	}
	return nil
}

// arrive finds the app, the tool and the app that is really touched, and reads the
// arguments.
func (p *passage) arrive() *Error {
	r := p.r
	ctx := p.clock.within(p.door)
	if failure := p.overdue(ctx, p.g.resolve(ctx, r)); failure != nil {
		return failure
	}
	p.know(func(p *passage) { p.about.App, p.about.Tool, p.name = r.App.ID, r.Tool.Name, firstName(r.App) })
	if r.Tool.Run == nil {
		return unsupported(r)
	}
	p.clock.limit(p.timeOf(r.Tool))
	p.know(func(p *passage) { p.total = p.timeOf(r.Tool) })
	if failure := readArgs(r.Tool, r.Call); failure != nil {
		return failure
	}
	if p.gaps = gaps(r.Call.Args); p.gaps && p.model == nil {
		return Errorf(Internal, "the call has holes, and was to run at once")
	}
	ctx = p.clock.within(p.door)
	target, err := p.g.target(ctx, r)
	if failure := p.overdue(ctx, err); failure != nil {
		return failure
	}
	if err := r.Call.only(target); err != nil {
		return err
	}
	r.Call.Target = target
	p.know(func(p *passage) { p.about.Target, p.name = r.Call.Target.ID, firstName(r.Call.Target) })
	return nil
}

// queue waits for the target's lane. Nothing is held while a person is asked, so it
// comes after that.
func (p *passage) queue() *Error {
	ctx := p.clock.within(p.door)
	if ctx.Err() != nil || !p.at(Queueing) {
		return p.abandon()
	}
	waited, err := p.enter(ctx)
	if err != nil {
		return err
	}
	if waited || p.asked || p.rested {
		if err := p.lookAgain(ctx); err != nil {
			return err
		}
	}
	args, hit := p.r.hiddenArgs(), p.r.Hit.clean(p.r)
	p.know(func(p *passage) {
		e := &p.about
		e.On = hit
		e.Admitted, e.Effect, e.Digest, e.Consent, e.Args = true, p.r.Effect(), p.r.Digest(), p.r.Consent, args
	})
	return nil
}

// lookAgain asks the gates about what may be otherwise by now, when the call has its
// lane: what it is about may have got another name while it waited, and of one that was
// admitted to run later all may have changed. They may admit or refuse; nobody is asked
// any more.
func (p *passage) lookAgain(ctx context.Context) *Error {
	r := p.r
	if !r.App.OperatesOthers() && !p.rested {
		return nil
	}
	was := r.Hit
	r.Destructive, r.Because, r.Shell = false, "", false
	questions, err := p.inTime(ctx)
	if err == nil && r.Destructive && len(r.Call.Answers) > 0 && was.Role != "" && !r.Hit.same(was) {
		return r.changed(r.Hit)
	}
	if err != nil || len(questions) == 0 {
		return err
	}
	return changed(r)
}

// inTime asks every gate, until the context ends.
func (p *passage) inTime(ctx context.Context) ([]Question, *Error) {
	questions, err := p.g.checkGates(ctx, p.r)
	if failure := p.overdue(ctx, err); failure != nil {
		return nil, failure
	}
	if ctx.Err() != nil {
		return nil, p.abandon()
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

// overdue is the error of a stage, where it came of the time being over.
func (p *passage) overdue(ctx context.Context, failure error) *Error {
	if _, said := errors.AsType[*Error](failure); failure != nil && !said && ctx.Err() != nil {
		return p.abandon()
	}
	return AsError(failure)
}

func timeoutOf(tool *Tool) time.Duration {
	if tool.Timeout <= 0 {
		return DefaultTimeout
	}
	return tool.Timeout
}

// note puts on record what is about to act.
func (p *passage) note(ctx context.Context) *Error {
	r := p.r
	if ctx.Err() != nil || !p.at(Recording) {
		return p.abandon()
	}
	if r.Effect() == Reads && p.g.Journal != nil {
		return nil
	}
	err := p.record(func(e *Entry) {
		e.Kind, e.Time, e.Durable = Intent, time.Now(), true
		e.Unless = func() error {
			if why := p.stopped(); why != nil {
				return halting{why}
			}
			return nil
		}
	})
	if err != nil && err.Code == RecordFailed && r.mayBeUnrecorded() {
		return nil
	}
	return err
}

// run runs the tool's Action, by the deadline of the context. One on windows, or one that
// makes calls, or one of a server, may have to wait for the person, which does not use up its time.
func (p *passage) run(ctx context.Context) (*Result, error) {
	if until, ok := ctx.Deadline(); ok && (p.r.App.OperatesOthers() || p.r.Tool.Calls || p.r.App.Server != nil) {
		w, end := newWaiting(p.door, until, p.clock.alarm)
		defer func() { p.clock.total += end() }()
		ctx = w
	}
	return p.r.Tool.Run(context.WithValue(ctx, passageKey{}, p), p.r.Call)
}

// resolve finds the app and the tool the call names.
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

// target finds the app that the call really touches.
func (g *Gateway) target(ctx context.Context, r *Request) (*App, error) {
	if r.Tool.Target == "" {
		return r.App, nil
	}
	value, given := r.Call.Args[r.Tool.Target]
	if !given && r.App.OperatesOthers() {
		return r.App, nil // not one app's windows, but the whole screen
	}
	name, ok := value.(string)
	if !ok || name == "" {
		return nil, Errorf(InvalidParams, "%s: expected the name of an app", r.Tool.Target)
	}
	if !r.App.OperatesOthers() {
		return g.Catalog.Find(ctx, name)
	}
	target, err := r.App.Targets(ctx, r.Call, name)
	if target == nil && err == nil {
		err = Errorf(AppNotFound, "there is no app %q", CleanLabel(name, maxName))
	}
	return target, err
}
