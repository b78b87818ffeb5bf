package gateway

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// A Stage is the current phase of a call.
type Stage string

// The stages in which a call may have to wait.
const (
	StageFinding   Stage = "finding"
	StageGating    Stage = "deciding"
	StageAsking    Stage = "asking"
	StageQueueing  Stage = "waiting"
	StageRecording Stage = "recording"
	StageActing    Stage = "running"
)

// description returns the activity of a stage in words.
func (s Stage) description() string {
	switch s {
	case StageFinding:
		return "finding the app and tool"
	case StageGating:
		return "deciding whether it may run"
	case StageAsking:
		return "asking the person at this computer"
	case StageQueueing:
		return "waiting for other calls"
	case StageRecording:
		return "recording it"
	case StageActing:
	}
	return "running"
}

// ActiveCall is a call in progress, with the data known so far. It contains no arguments.
type ActiveCall struct {
	Call, Parent string
	Caller       aai.Caller
	// App, Tool and Target are as in an Entry.
	App, Tool, Target string
	Element           aai.TargetElement
	Stage             Stage
	Since             time.Time
	// Done, Total and Message are from the Action's last call of Progress, without secrets. Total
	// is 0 if unknown.
	Done, Total float64
	Message     string
}

// Active returns the active calls, the oldest first.
func (g *Gateway) Active() []ActiveCall {
	passages := g.active.all()
	all := make([]ActiveCall, 0, len(passages))
	for _, p := range passages {
		all = append(all, p.snapshot())
	}
	slices.SortFunc(all, func(a, b ActiveCall) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Call, b.Call))
	})
	return all
}

func (p *invocation) snapshot() ActiveCall {
	p.mu.Lock()
	defer p.mu.Unlock()
	u := ActiveCall{
		Call: p.entry.Call, Parent: p.entry.Parent, Caller: p.entry.Caller,
		App: p.entry.App, Tool: p.entry.Tool, Target: p.entry.Target, Element: p.element,
		Stage: p.stage, Since: p.started, Done: p.lastProgress.done, Total: p.lastProgress.total, Message: p.lastProgress.message,
	}
	if u.Element == (aai.TargetElement{}) {
		u.Element = p.entry.Element
	}
	return u
}

// invocations is the set of the active calls. The zero value is ready.
type invocations struct {
	mu  sync.Mutex
	set map[*invocation]struct{}
}

func (s *invocations) all() []*invocation {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*invocation, 0, len(s.set))
	for p := range s.set {
		all = append(all, p)
	}
	return all
}

// register adds the call to the active ones, which a person can stop, until delist is called.
func (p *invocation) register() (delist func()) {
	if p.g.Stops != nil {
		p.mu.Lock()
		p.ctx, p.cancelContext = context.WithCancelCause(p.ctx)
		p.mu.Unlock()
	}
	s := &p.g.active
	s.mu.Lock()
	if s.set == nil {
		s.set = make(map[*invocation]struct{})
	}
	s.set[p] = struct{}{}
	s.mu.Unlock()
	p.g.notifyStageChange()
	return func() {
		s.mu.Lock()
		delete(s.set, p)
		s.mu.Unlock()
		p.g.notifyStageChange()
	}
}

// releaseContext ends the call's context after its goroutine has ended.
func (p *invocation) releaseContext() {
	p.mu.Lock()
	cancel := p.cancelContext
	p.mu.Unlock()
	if cancel != nil {
		cancel(nil)
	}
}

// notifyStageChange reports that a call has begun, changed its stage or progress, or ended.
func (g *Gateway) notifyStageChange() {
	if g.OnActiveChange != nil {
		g.OnActiveChange()
	}
}

// progressState is the progress of a call as its Action reports it.
type progressState struct {
	done, total float64
	message     string
}

// maxProgressSecrets limits the bytes of secrets with which messages about progress are compared.
const maxProgressSecrets = 16 << 10

// setProgress stores the progress of the call, redacted. With more secrets than maxProgressSecrets it omits
// the message: a call may report often, and each comparison reads all secrets.
func (p *invocation) setProgress(done, total float64, message string) {
	secrets, size := secretValues(p.request, p.request.SecretParams()), 0
	for _, secret := range secrets {
		size += len(secret)
	}
	if size <= maxProgressSecrets {
		message = aai.CleanLabel(sanitize.NewRedactor(secrets).Redact(message), maxName)
	} else {
		message = ""
	}
	p.update(func(p *invocation) { p.lastProgress = progressState{done, total, message} })
	p.g.notifyStageChange()
}

// A StopChecker knows the calls that a person has stopped. It is safe for concurrent use.
type StopChecker interface {
	// CheckStopped returns the reason why a call must not continue, or nil. Do calls it on
	// receipt, before the run, and last while the intent is written, so it must be quick.
	CheckStopped(w CallScope) *aai.Error
}

// CallScope holds the properties of a call that a stop can refer to.
type CallScope struct {
	// CallIDs are the ids of the call, of its enclosing calls, and of the call that it repeats.
	CallIDs []string
	Caller  aai.Caller
	// App and Tool are the resolved names, or the requested ones before resolution.
	App, Tool string
}

// CancelStopped ends the active calls that a person has stopped. The watcher of the StopChecker
// calls it after a change; later calls check by themselves.
func (g *Gateway) CancelStopped() {
	for _, p := range g.active.all() {
		_ = p.checkStop() // it ends the call
	}
}

// checkStopBetween implements actionctx.CheckStopped, between two steps of the Action.
func (p *invocation) checkStopBetween() error {
	if why := p.checkStop(); why != nil {
		return asNotDelivered(why)
	}
	return nil
}

// asNotDelivered returns the error of a stop before the Action began, or between two of its steps.
func asNotDelivered(why *aai.Error) *aai.Error {
	e := *why
	e.Delivery = aai.NotDelivered
	return &e
}

// stopCause is the cause in the context of a stopped call.
type stopCause struct{ err *aai.Error }

// Error implements error.
func (h stopCause) Error() string { return h.err.Error() }

// stop is a person's stop of a call.
type stop struct {
	stopError     *aai.Error              // its reason, or nil
	cancelContext context.CancelCauseFunc // ends the context of the call; may be nil
}

// callChain returns the ids of the call and its enclosing calls, sorted.
func (p *invocation) callChain() []string {
	calls := []string{p.request.Call.ID}
	if p.request.Call.Parent != "" {
		calls = append(calls, p.request.Call.Parent)
	}
	if p.outer != nil {
		calls = append(calls, p.outer.callIDs...)
	}
	slices.Sort(calls)
	return slices.Compact(calls)
}

// checkStop checks whether a person has stopped the call, and ends it if so.
func (p *invocation) checkStop() *aai.Error {
	if p.g.Stops == nil {
		return nil
	}
	p.mu.Lock()
	who := CallScope{CallIDs: p.callIDs, Caller: p.request.Call.Caller, App: p.entry.App, Tool: p.entry.Tool}
	p.mu.Unlock()
	why := p.g.Stops.CheckStopped(who)
	if why == nil {
		return nil
	}
	p.mu.Lock()
	p.stopError = cmp.Or(p.stopError, why)
	cancel := p.cancelContext
	p.mu.Unlock()
	if cancel != nil {
		cancel(stopCause{why})
	}
	return why
}

// stopCause returns the reason of a person's stop of the call or an enclosing one, or nil.
func (p *invocation) stopCause() *aai.Error {
	p.mu.Lock()
	why, door := p.stopError, p.ctx
	p.mu.Unlock()
	if outer, is := errors.AsType[stopCause](context.Cause(door)); why == nil && is {
		return outer.err
	}
	return why
}

// stoppedError returns the error of a stopped call; failure is the Action's error, or nil if the
// Action has not returned.
func (p *invocation) stoppedError(why, failure *aai.Error) *aai.Error {
	p.mu.Lock()
	ran := p.ran()
	p.mu.Unlock()
	e := *why
	switch {
	case !ran || p.onlyReads():
		e.Delivery = aai.NotDelivered
	case failure == nil:
		e.Delivery = aai.DeliveryUnknown
	default:
		e.Delivery = cmp.Or(failure.Delivery, aai.DeliveryUnknown)
	}
	if failure != nil {
		e.Data, e.Undo = failure.Data, failure.Undo
		if strings.Contains(failure.Message, why.Message) {
			e.Message = failure.Message
		}
	}
	return &e
}
