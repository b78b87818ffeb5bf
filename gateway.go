package aai

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
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

// A Journal keeps what happened. It is safe for concurrent use.
type Journal interface {
	// Record keeps the entry before it returns; one that Entry.Durable says must
	// survive a crash is on disk by then.
	Record(ctx context.Context, e *Entry) error
}

// A Request is a call on its way: its app and tool are found and its arguments
// are right.
type Request struct {
	Call    *Call // with defaults applied to Args
	App     *App
	Tool    *Tool
	Target  *App   // the app that is really touched; gates decide by it
	Consent string // a gate that admits says here on whose word, for the record
	// Destructive is what a gate sets that takes an act on a window for one that
	// cannot be taken back.
	Destructive bool

	held []held // in the order in which gates took it
}

// The permissions for the windows of an app: one approval covers the app and not
// every button.
const (
	PermissionSee = "see" // what only reads
	PermissionAct = "act" // the rest
	// PermissionStart is to start a program, with whatever arguments: it may make
	// it do anything that the program can do.
	PermissionStart = "start"
	// PermissionDestroy is an act that looks as if it could not be taken back, such
	// as a click on "Delete". To act does not include it.
	PermissionDestroy = "destroy"
)

// Permission names what a person allows or refuses when the request asks: the
// tool, or for an app whose tools operate the windows of others, to see them or
// to act on them, or to start a program that does not run yet.
func (r *Request) Permission() string {
	switch {
	case r.App.Targets == nil:
		return r.Tool.Name
	case r.Target != r.App && r.Target.PID == 0:
		return PermissionStart
	case r.Tool.Effect == Reads:
		return PermissionSee
	case r.Destructive:
		return PermissionDestroy
	}
	return PermissionAct
}

// Effect is what the call does to the world: what its tool does, or more where it
// is to start a program.
func (r *Request) Effect() Effect {
	if r.Permission() == PermissionStart {
		return Destroys
	}
	return r.Tool.Effect
}

// Digest names what a permission is bound to: the descriptor that offers the
// tool, or the program whose windows are operated.
func (r *Request) Digest() string {
	if r.App.Targets == nil {
		return r.App.DigestOf(r.Tool.Name)
	}
	return r.Target.Digest
}

// held is what a gate keeps for a call.
type held struct {
	by      Gate
	release func()
}

// Hold notes that the gate keeps something for the call, such as one of a few
// slots: release is called once, when the call has ended in whatever way, also by a
// refusal. By is a pointer.
func (r *Request) Hold(by Gate, release func()) { r.held = append(r.held, held{by, release}) }

// Holds reports whether the gate keeps something for the call already: gates are
// asked again when a person has answered.
func (r *Request) Holds(by Gate) bool {
	return slices.ContainsFunc(r.held, func(h held) bool { return h.by == by })
}

// release gives back what gates kept.
func (r *Request) release() {
	for _, h := range slices.Backward(r.held) {
		h.release()
	}
	r.held = nil
}

// A Gateway is the whole product: what apps there are, who may use them, what
// is remembered, and the one way through. The zero Gateway runs nothing.
type Gateway struct {
	Catalog Catalog
	Gates   []Gate  // asked in order; without any, nothing is admitted
	Journal Journal // what cannot be recorded does not run
	Dialog  Asker   // puts native questions; nil where there is none

	asking turns // one call at a time asks by Dialog
}

// lateGrace is how long a call past its deadline waits for its Action to say
// what became of the request. An Action that ignores its context is left behind.
const lateGrace = 100 * time.Millisecond

// Do makes one call, from beginning to end: received, resolve, validate, gate,
// intent, run, outcome. It returns by the tool's deadline whatever the app does,
// it turns a panic into an error of this call alone, and its error is always an
// *Error. A call that a person must allow first returns CONSENT_REQUIRED with
// Error.Questions; make it again with Call.Answers. Safe for concurrent use.
func (g *Gateway) Do(ctx context.Context, call *Call) (*Result, error) {
	begun := time.Now()
	c := *call
	c.Target = nil
	if c.ID == "" {
		c.ID = NewCallID()
	}
	if err := g.record(ctx, received(&c, begun)); err != nil {
		return nil, err
	}
	r := &Request{Call: &c}
	result, err := g.perform(ctx, r)
	if late := g.record(ctx, outcome(r, result, err, begun)); late != nil {
		return nil, unrecorded(late, err)
	}
	if err != nil {
		return nil, r.unsaid(err)
	}
	return result, nil
}

// perform is Do between the first record and the last. It completes the request.
func (g *Gateway) perform(ctx context.Context, r *Request) (result *Result, err *Error) {
	defer func() {
		if p := recover(); p != nil {
			result, err = nil, panicked(p)
		}
	}()
	defer r.release()
	if r.Call.Fault != nil {
		return nil, AsError(r.Call.Fault)
	}
	failure := g.resolve(ctx, r)
	if failure != nil {
		return nil, AsError(failure)
	}
	if r.Tool.Run == nil {
		return nil, unsupported(r)
	}
	args, err := validate(r.Tool, r.Call.Args)
	if err != nil {
		return nil, err
	}
	r.Call.Args = args
	if r.Target, failure = g.target(ctx, r); failure != nil {
		return nil, AsError(failure)
	}
	r.Call.Target = r.Target
	if err = g.admit(ctx, r); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, leftBefore(ctx.Err())
	}
	if err = g.record(ctx, intent(r, time.Now())); err != nil {
		return nil, err
	}
	result, failure = runByDeadline(ctx, r)
	if failure != nil {
		return nil, AsError(failure)
	}
	return checkReturns(r.Tool, result), nil
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
	if !given && r.App.Targets != nil {
		return r.App, nil // not one app's windows, but the whole screen
	}
	name, ok := value.(string)
	if !ok || name == "" {
		return nil, Errorf(InvalidParams, "%s: expected the name of an app", r.Tool.Target)
	}
	if r.App.Targets == nil {
		return g.Catalog.Find(ctx, name)
	}
	target, err := r.App.Targets(ctx, r.Call, name)
	if target == nil && err == nil {
		err = Errorf(AppNotFound, "there is no app %q", CleanLabel(name, maxName))
	}
	return target, err
}

// admit asks every gate, and the person where a dialog of our own may do so.
// Any refusal is final; questions are collected from all gates and put in one
// round, and the answers are judged by the gates themselves.
func (g *Gateway) admit(ctx context.Context, r *Request) *Error {
	questions, err := g.checkGates(ctx, r)
	if err == nil && len(questions) > 0 && g.asksNatively(ctx, questions) {
		questions, err = g.admitNatively(ctx, r, questions)
	}
	if err == nil && len(questions) > 0 {
		err = consentRequired(r, questions)
	}
	return needing(r, err)
}

// admitNatively puts the questions of a call through the gateway's own dialog.
// Who waits for another call's dialog is checked again first: its answer may be
// the one to this question too. It returns the questions that could not be put.
func (g *Gateway) admitNatively(ctx context.Context, r *Request, questions []Question) ([]Question, *Error) {
	end, waited, failure := g.asking.take(ctx)
	if failure != nil {
		return nil, failure
	}
	defer end()
	if waited {
		var err *Error
		if questions, err = g.checkGates(ctx, r); err != nil || len(questions) == 0 {
			return nil, err
		}
	}
	if failure := g.answerNatively(ctx, r.Call, questions); failure != nil {
		if e, final := errors.AsType[*Error](failure); final {
			return nil, e
		}
		return questions, nil
	}
	return g.checkGates(ctx, r)
}

func (g *Gateway) checkGates(ctx context.Context, r *Request) ([]Question, *Error) {
	if len(g.Gates) == 0 {
		return nil, Errorf(PermissionDenied, "this gateway has no gates, so it admits nothing")
	}
	var questions []Question
	for _, gate := range g.Gates {
		asked, err := gate.Check(ctx, r)
		if err != nil {
			return nil, AsError(err)
		}
		questions = append(questions, asked...)
	}
	return questions, nil
}

// asksNatively reports whether all the questions are for the gateway's own dialog:
// all or none, so that nobody is asked for an answer that would be thrown away. A
// question that is rather for the client goes there if the client can put it.
func (g *Gateway) asksNatively(ctx context.Context, questions []Question) bool {
	if g.Dialog == nil {
		return false
	}
	byClient := AssistantOf(ctx).Asks
	for _, q := range questions {
		if !q.MayAsk(Native) {
			return false
		}
		byClient = byClient && q.Channels[0] == Client
	}
	return !byClient
}

// answerNatively puts the questions and adds the answers to the call.
func (g *Gateway) answerNatively(ctx context.Context, call *Call, questions []Question) error {
	answers := make(map[string]Answer, len(questions)+len(call.Answers))
	for id, a := range call.Answers {
		answers[id] = a
	}
	for _, q := range questions {
		a, err := g.Dialog.Ask(ctx, q)
		if err != nil {
			return err
		}
		answers[q.ID] = a
	}
	call.Answers = answers
	return nil
}

// runByDeadline runs the tool's Action in a goroutine of its own, so that
// neither a panic nor an Action that never returns can take the caller with it.
func runByDeadline(ctx context.Context, r *Request) (*Result, error) {
	timeout := r.Tool.Timeout
	if timeout <= 0 {
		timeout = DefaultTimeout
	}
	begun := time.Now()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	deadline, _ := ctx.Deadline() // the caller's own, where that is sooner
	defer beat(ctx, r, deadline.Sub(begun))()

	type ending struct {
		result *Result
		err    error
	}
	ended := make(chan ending, 1)
	go func() {
		e := ending{err: &Error{
			Code: Internal, Message: "the tool " + r.Tool.Name + " ended without an answer", Delivery: DeliveryUnknown,
		}}
		defer func() {
			if p := recover(); p != nil {
				e = ending{err: panicked(p)}
			}
			ended <- e
		}()
		e.result, e.err = r.Tool.Run(ctx, r.Call)
	}()

	select {
	case e := <-ended:
		return e.result, e.err
	case <-ctx.Done():
	}
	select {
	case e := <-ended:
		return e.result, e.err
	case <-time.After(lateGrace):
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil, ctx.Err()
	}
	return nil, &Error{
		Code:     Timeout,
		Message:  fmt.Sprintf("%s did not answer within %s", r.App.ID, deadline.Sub(begun).Round(time.Millisecond)),
		Hint:     "The app may still be working on it. Look at its state before you try again.",
		Delivery: DeliveryUnknown,
	}
}

// panicked makes the error of a call whose code panicked. The stack goes to the
// log by way of Err.
func panicked(p any) *Error {
	return &Error{
		Code:     Internal,
		Message:  "the gateway failed at this call; other calls are not affected",
		Hint:     "This is a fault of the gateway. Its log has the details.",
		Delivery: DeliveryUnknown,
		Err:      fmt.Errorf("panic: %v\n%s", p, debug.Stack()),
	}
}
