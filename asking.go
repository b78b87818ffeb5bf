package aai

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"
)

// A decision is a question to a person, and the calls that it is about.
type decision struct {
	question Question
	calls    []*passage
}

// decisions are what is open of the calls: questions with one ID, of several calls, are
// one where a gate can word them so.
func decisions(calls []*passage) []decision {
	var all []decision
	for _, p := range calls {
		for _, q := range p.open {
			all = append(all, decision{q, []*passage{p}})
		}
	}
	for i := 0; i < len(all); i++ {
		var same, others []decision
		for _, d := range all[i:] {
			if d.question.ID == all[i].question.ID {
				same = append(same, d)
			} else {
				others = append(others, d)
			}
		}
		same = joined(same)
		all = slices.Concat(all[:i], same, others)
		i += len(same) - 1
	}
	return all
}

// joined are decisions with one ID, as few as a gate can word them in.
func joined(same []decision) []decision {
	if len(same) < 2 {
		return same
	}
	var one decision
	var asked []Asked
	for _, d := range same {
		asked = append(asked, Asked{d.calls[0].r, d.question})
		one.calls = append(one.calls, d.calls...)
	}
	for _, gate := range one.calls[0].g.Gates {
		if j, joins := gate.(Joiner); joins {
			var can bool
			if one.question, can = j.Join(asked); can {
				return []decision{one}
			}
		}
	}
	half := len(same) / 2
	return append(joined(same[:half]), joined(same[half:])...)
}

// questionsOf are the questions for a door, which knows them by their IDs: the second of
// two with one ID is asked when the calls are made again.
func questionsOf(all []decision) []Question {
	var questions []Question
	for _, d := range all {
		if !slices.ContainsFunc(questions, func(q Question) bool { return q.ID == d.question.ID }) {
			questions = append(questions, d.question)
		}
	}
	return questions
}

// consult has the person decide what is open of the calls, all of it in one round; the
// answers are judged by the gates themselves. Nothing is held while a person is asked.
// Where it fails it says at which call.
func consult(calls []*passage) (*passage, *Error) {
	if p, err := inTurn(calls, (*passage).inVain); err != nil {
		return p, needing(p.r, err)
	}
	lead := calls[0]
	if lead.g.asksNatively(lead.door, decisions(calls)) {
		if p, err := askNatively(calls); err != nil {
			return p, needing(p.r, err)
		}
	}
	for _, p := range calls {
		if len(p.open) > 0 {
			return p, needing(p.r, consentRequired(p.r, questionsOf(decisions(calls))))
		}
		p.asked = true
	}
	return nil, nil
}

// inTurn does f for each of the calls, by the clock of each. Where it fails it says at
// which.
func inTurn(calls []*passage, f func(*passage) *Error) (*passage, *Error) {
	for _, p := range calls {
		p.clock.goOn()
		if err := f(p); err != nil {
			return p, err
		}
		if len(calls) > 1 {
			p.clock.rest()
		}
	}
	return nil, nil
}

// inVain says why the call would come to nothing. What there is in windows it tells only
// those who may see it; of the screen as such there is only whether there is one.
func (p *passage) inVain() *Error {
	r, ctx := p.r, p.clock.within(p.door)
	if r.Tool.Vain == nil || p.gaps || r.App.OperatesOthers() && !r.OnScreen() && !p.g.sees(ctx, r) {
		return nil
	}
	if door := r.Call.Caller.Door; r.App.ID == OwnApp && !r.Tool.VainOpen && door != DoorCLI && door != DoorWeb {
		return nil // what was decided for others is no agent's to find out
	}
	return p.overdue(ctx, r.Tool.Vain(ctx, r.Call))
}

// askNatively puts what is open of the calls through the gateway's own dialog. What was
// received is on disk before. Who waits for another call's dialog is checked again
// first: its answer may be the one to this question too. What could not be put stays
// open.
func askNatively(calls []*passage) (*passage, *Error) {
	lead := calls[0]
	if d, ok := lead.g.Dialog.(ReadyAsker); ok && d.Ready(lead.door) != nil {
		return nil, nil
	}
	if p, err := inTurn(calls, func(p *passage) *Error {
		err := p.record(func(e *Entry) { e.Kind, e.Time, e.Durable = Received, time.Now(), true })
		if err == nil && !p.at(Asking) {
			err = p.abandon()
		}
		return err
	}); err != nil {
		return p, err
	}
	defer AwaitsPerson(lead.door)()
	defer awaiting(calls)()
	lead.clock.stop(turnPatience)
	end, waited, err := lead.g.asking.take(lead.door)
	lead.clock.goOn()
	if err != nil {
		return lead, err
	}
	defer end()
	if waited {
		if p, err := inTurn(calls, (*passage).gate); err != nil {
			return p, err
		}
		if calls = slices.DeleteFunc(slices.Clone(calls), (*passage).decided); len(calls) == 0 {
			return nil, nil
		}
	}
	if p, err := answerNatively(calls); err != nil {
		e, final := errors.AsType[*Error](err)
		if final {
			return p, e
		}
	}
	return inTurn(calls, (*passage).gate) // which know other ways to ask where windows fail
}

// awaiting counts from now on for the calls that the person is waited for, until the function
// that it returns. Each call asks so once, so nothing was counted before.
func awaiting(calls []*passage) (over func()) {
	now := time.Now()
	for _, p := range calls {
		p.mu.Lock()
		p.asking = now
		p.mu.Unlock()
	}
	return func() {
		for _, p := range calls {
			p.mu.Lock()
			p.person, p.asking = time.Since(now), time.Time{}
			p.mu.Unlock()
		}
	}
}

// decided reports whether nothing of the call is open.
func (p *passage) decided() bool { return len(p.open) == 0 }

// asksNatively reports whether all that is open is for the gateway's own dialog:
// all or none, so that nobody is asked for an answer that would be thrown away. A
// question that is rather for the client goes there if the client can put it.
func (g *Gateway) asksNatively(ctx context.Context, all []decision) bool {
	if g.Dialog == nil {
		return false
	}
	byClient := AssistantOf(ctx).Asks
	for _, d := range all {
		if !d.question.MayAsk(Native) {
			return false
		}
		byClient = byClient && d.question.Channels[0] == Client
	}
	return !byClient
}

// answerNatively puts the questions and adds the answers to the calls. A no ends them: what is
// refused in part is refused. The person's time is not the tools'.
func answerNatively(calls []*passage) (*passage, error) {
	for _, p := range calls {
		if !p.at(Asking) {
			return p, p.abandon()
		}
		defer p.at(Gating)
	}
	lead, all := calls[0], decisions(calls)
	lead.clock.stop(time.Duration(len(all)) * (turnPatience + AskPatience))
	defer lead.clock.goOn()
	given := make([]Answer, len(all))
	for i, d := range all {
		var err error
		if given[i], err = lead.ask(d.question); err != nil {
			return d.calls[0], err
		}
		if d.question.Refused(given[i].Choice) {
			all = all[:i+1]
			break
		}
	}
	for i, d := range all {
		for _, p := range d.calls {
			answers := maps.Clone(p.r.Call.Answers)
			if answers == nil {
				answers = make(map[string]Answer)
			}
			answers[d.question.ID] = given[i]
			p.r.Call.Answers = answers
		}
	}
	return nil, nil
}

// ask puts one question. Where another gateway of the person asks, it has to wait for
// that too; how long it is shown is the dialog's own concern.
func (p *passage) ask(q Question) (Answer, error) {
	ctx, cancel := context.WithTimeout(p.door, turnPatience+AskPatience)
	defer cancel()
	q.By = p.r.Call.Caller.Identity
	q.Anew = q.By == IdentityPage && p.outer == nil
	a, err := p.g.Dialog.Ask(ctx, q)
	if cause := p.door.Err(); err != nil && cause != nil {
		return a, leftBefore(cause)
	}
	if err != nil && ctx.Err() != nil {
		e := Errorf(ConsentRequired, "nobody at this computer answered within %s", turnPatience+AskPatience)
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
