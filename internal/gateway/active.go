package gateway

import (
	"cmp"
	"context"
	"slices"
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
