package aai

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"
)

// askAll asks the gates until they admit the call. It reports whether a person was
// asked.
func (p *passage) askAll() (asked bool, err *Error) {
	questions, err := p.checkGates()
	if err != nil || len(questions) == 0 {
		return len(p.r.Call.Answers) > 0, err
	}
	if err := p.inVain(); err != nil {
		return false, err
	}
	if p.g.asksNatively(p.door, questions) {
		if questions, err = p.askNatively(questions); err != nil {
			return true, err
		}
	}
	if len(questions) > 0 {
		return true, consentRequired(p.r, questions)
	}
	return true, nil
}

// inVain says why the call would come to nothing. What there is in windows it tells only
// those who may see it.
func (p *passage) inVain() *Error {
	r, ctx := p.r, p.clock.within(p.door)
	if r.Tool.Vain == nil || r.App.OperatesOthers() && !p.g.sees(ctx, r) {
		return nil
	}
	if r.App.ID == OwnApp && r.Call.Caller.Door != DoorCLI {
		return nil // what was decided for others is no agent's to find out
	}
	return p.overdue(ctx, r.Tool.Vain(ctx, r.Call))
}

// askNatively puts the questions of a call through the gateway's own dialog. What was
// received is on disk before. Who waits for another call's dialog is checked again
// first: its answer may be the one to this question too. It returns the questions
// that could not be put.
func (p *passage) askNatively(questions []Question) ([]Question, *Error) {
	if d, ok := p.g.Dialog.(ReadyAsker); ok && d.Ready(p.door) != nil {
		return questions, nil
	}
	err := p.record(func(e *Entry) { e.Kind, e.Time, e.Durable = Received, time.Now(), true })
	if err != nil {
		return nil, err
	}
	if !p.at(asking) {
		return nil, p.abandon()
	}
	p.clock.stop(turnPatience)
	defer p.at(gating)
	end, waited, err := p.g.asking.take(p.door)
	p.clock.goOn()
	if err != nil {
		return nil, err
	}
	defer end()
	if waited {
		if questions, err = p.checkGates(); err != nil || len(questions) == 0 {
			return nil, err
		}
	}
	if !p.at(asking) {
		return nil, p.abandon()
	}
	if err := p.answerNatively(questions); err != nil {
		if e, final := errors.AsType[*Error](err); final {
			return nil, e
		}
		return questions, nil
	}
	return p.checkGates()
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

// answerNatively puts the questions and adds the answers to the call. The person's
// time is not the tool's.
func (p *passage) answerNatively(questions []Question) error {
	call := p.r.Call
	answers := make(map[string]Answer, len(questions)+len(call.Answers))
	maps.Copy(answers, call.Answers)
	p.clock.stop(time.Duration(len(questions)) * (turnPatience + askPatience))
	defer p.clock.goOn()
	for _, q := range questions {
		a, err := p.ask(q)
		if err != nil {
			return err
		}
		answers[q.ID] = a
	}
	call.Answers = answers
	return nil
}

// ask puts one question. Where another gateway of the person asks, it has to wait for
// that too; how long it is shown is the dialog's own concern.
func (p *passage) ask(q Question) (Answer, error) {
	ctx, cancel := context.WithTimeout(p.door, turnPatience+askPatience)
	defer cancel()
	q.By = p.r.Call.Caller.Identity
	a, err := p.g.Dialog.Ask(ctx, q)
	if cause := p.door.Err(); err != nil && cause != nil {
		return a, leftBefore(cause)
	}
	if err != nil && ctx.Err() != nil {
		e := Errorf(ConsentRequired, "nobody at this computer answered within %s", turnPatience+askPatience)
		e.Hint = "Ask the person to come to the computer, and call again."
		return a, e
	}
	return a, err
}

// turns are taken one at a time, by who waits no longer than its context. The zero
// value is ready.
type turns struct {
	once  sync.Once
	taken chan struct{}
}

// take returns what ends the turn, and whether somebody else had it before.
func (t *turns) take(ctx context.Context) (end func(), waited bool, err *Error) {
	t.once.Do(func() { t.taken = make(chan struct{}, 1) })
	end = func() { <-t.taken }
	select {
	case t.taken <- struct{}{}:
		return end, false, nil
	default:
	}
	late := time.NewTimer(turnPatience)
	defer late.Stop()
	select {
	case t.taken <- struct{}{}:
		return end, true, nil
	case <-ctx.Done():
		return nil, true, leftBefore(ctx.Err())
	case <-late.C:
	}
	err = Errorf(ConsentRequired, "the person at this computer is being asked about other calls")
	err.Hint = "Call again when those are answered."
	err.RetryAfter = turnPatience
	return nil, true, err
}
