package aai

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"aai/internal/hygiene"
)

// A Stage is where on its way a call is.
type Stage string

// The stages in which a call may have to wait.
const (
	Finding   Stage = "finding"
	Gating    Stage = "deciding"
	Asking    Stage = "asking"
	Queueing  Stage = "waiting"
	Recording Stage = "recording"
	Acting    Stage = "running"
)

// words say of a stage what is done there.
func (s Stage) words() string {
	switch s {
	case Finding:
		return "finding what it is for"
	case Gating:
		return "deciding whether it may run"
	case Asking:
		return "asking the person at this computer"
	case Queueing:
		return "waiting for other calls"
	case Recording:
		return "putting it on record"
	case Acting:
	}
	return "running"
}

// Underway is a call that is under way, as far as it is known by then. It has no arguments.
type Underway struct {
	Call, Parent string
	Caller       Caller
	// App, Tool and Target are as in an Entry.
	App, Tool, Target string
	On                Hit
	Stage             Stage
	Since             time.Time
	// Done of Total, and a message for people: the last of what Progress was told, without
	// what is secret. Total is 0 where it is not known.
	Done, Total float64
	Message     string
}

// Underway returns the calls that are under way, those that began first before the others.
func (g *Gateway) Underway() []Underway {
	passages := g.under.all()
	all := make([]Underway, 0, len(passages))
	for _, p := range passages {
		all = append(all, p.underway())
	}
	slices.SortFunc(all, func(a, b Underway) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Call, b.Call))
	})
	return all
}

func (p *passage) underway() Underway {
	p.mu.Lock()
	defer p.mu.Unlock()
	u := Underway{
		Call: p.about.Call, Parent: p.about.Parent, Caller: p.about.Caller,
		App: p.about.App, Tool: p.about.Tool, Target: p.about.Target, On: p.on,
		Stage: p.stage, Since: p.begun, Done: p.far.done, Total: p.far.total, Message: p.far.message,
	}
	if u.On == (Hit{}) {
		u.On = p.about.On
	}
	return u
}

// passages are those of the calls that are under way. The zero value is ready.
type passages struct {
	mu  sync.Mutex
	are map[*passage]struct{}
}

func (s *passages) all() []*passage {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*passage, 0, len(s.are))
	for p := range s.are {
		all = append(all, p)
	}
	return all
}

// enlist has the call be one of those under way, which a person can stop, until delist.
func (p *passage) enlist() (delist func()) {
	if p.g.Halt != nil {
		p.mu.Lock()
		p.door, p.cancel = context.WithCancelCause(p.door)
		p.mu.Unlock()
	}
	s := &p.g.under
	s.mu.Lock()
	if s.are == nil {
		s.are = make(map[*passage]struct{})
	}
	s.are[p] = struct{}{}
	s.mu.Unlock()
	p.g.moved()
	return func() {
		s.mu.Lock()
		delete(s.are, p)
		s.mu.Unlock()
		p.g.moved()
	}
}

// letGo ends the call's context, when its goroutine has ended.
func (p *passage) letGo() {
	p.mu.Lock()
	cancel := p.cancel
	p.mu.Unlock()
	if cancel != nil {
		cancel(nil)
	}
}

// moved says that a call has begun, come to another stage, or ended.
func (g *Gateway) moved() {
	if g.Moved != nil {
		g.Moved()
	}
}

// far is how far a call has come, as its Action says.
type far struct {
	done, total float64
	message     string
}

// comes notes how far the call has come.
func (p *passage) comes(done, total float64, message string) {
	message = CleanLabel(hygiene.NewVeil(p.r.secrets(p.r.SecretParams())).Over(message), maxName)
	p.know(func(p *passage) { p.far = far{done, total, message} })
	p.g.moved()
}
