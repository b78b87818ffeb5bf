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
	calls    []*invocation
}

// decisions are what is open of the calls: questions with one ID, of several calls, are
// one where a gate can word them so.
func decisions(calls []*invocation) []decision {
	var all []decision
	for _, p := range calls {
		for _, q := range p.openQuestions {
			all = append(all, decision{q, []*invocation{p}})
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
		same = merged(same)
		all = slices.Concat(all[:i], same, others)
		i += len(same) - 1
	}
	return all
}

// merged are decisions with one ID, as few as a gate can word them in.
func merged(same []decision) []decision {
	if len(same) < 2 {
		return same
	}
	var one decision
	var asked []PendingQuestion
	for _, d := range same {
		asked = append(asked, PendingQuestion{d.calls[0].request, d.question})
		one.calls = append(one.calls, d.calls...)
	}
	for _, gate := range one.calls[0].g.Gates {
		if j, joins := gate.(QuestionMerger); joins {
			var can bool
			if one.question, can = j.MergeQuestions(asked); can {
				return []decision{one}
			}
		}
	}
	half := len(same) / 2
	return append(merged(same[:half]), merged(same[half:])...)
}

// uniqueQuestions are the questions for a door, which knows them by their IDs: the second of
// two with one ID is asked when the calls are made again.
func uniqueQuestions(all []decision) []Question {
	var questions []Question
	for _, d := range all {
		if !slices.ContainsFunc(questions, func(q Question) bool { return q.ID == d.question.ID }) {
			questions = append(questions, d.question)
		}
	}
	return questions
}

// askPerson has the person decide what is open of the calls, all of it in one round; the
// answers are judged by the gates themselves. Nothing is held while a person is asked.
// Where it fails it says at which call.
func askPerson(calls []*invocation) (*invocation, *Error) {
	if p, err := forEachCall(calls, (*invocation).precheck); err != nil {
		return p, withNeeds(p.request, err)
	}
	lead := calls[0]
	if lead.g.usesDesktopDialog(lead.ctx, decisions(calls)) {
		if p, err := askByDialog(calls); err != nil {
			return p, withNeeds(p.request, err)
		}
	}
	for _, p := range calls {
		if len(p.openQuestions) > 0 {
			return p, withNeeds(p.request, consentRequired(p.request, uniqueQuestions(decisions(calls))))
		}
		p.personAsked = true
	}
	return nil, nil
}

// forEachCall does f for each of the calls, by the clock of each. Where it fails it says at
// which.
func forEachCall(calls []*invocation, f func(*invocation) *Error) (*invocation, *Error) {
	for _, p := range calls {
		p.clock.resume()
		if err := f(p); err != nil {
			return p, err
		}
		if len(calls) > 1 {
			p.clock.pause()
		}
	}
	return nil, nil
}

// precheck says why the call would come to nothing. What there is in windows it tells only
// those who may see it; of the screen as such there is only whether there is one.
func (p *invocation) precheck() *Error {
	r, ctx := p.request, p.clock.within(p.ctx)
	if r.Tool.Precheck == nil || p.hasPlaceholders || r.App.OperatesOthers() && !r.IsWholeScreen() && !p.g.canSee(ctx, r) {
		return nil
	}
	if door := r.Call.Caller.Door; r.App.ID == BuiltinApp && !r.Tool.PrecheckPublic && door != DoorCLI && door != DoorWeb {
		return nil // what was decided for others is no agent's to find out
	}
	return p.deadlineError(ctx, r.Tool.Precheck(ctx, r.Call))
}

// askByDialog puts what is open of the calls through the gateway's own dialog. What was
// received is on disk before. Who waits for another call's dialog is checked again
// first: its answer may be the one to this question too. What could not be put stays
// open.
func askByDialog(calls []*invocation) (*invocation, *Error) {
	lead := calls[0]
	if d, ok := lead.g.Dialog.(ReadyAsker); ok && d.Ready(lead.ctx) != nil {
		return nil, nil
	}
	if p, err := forEachCall(calls, func(p *invocation) *Error {
		err := p.record(func(e *Entry) { e.Kind, e.Time, e.Durable = Received, time.Now(), true })
		if err == nil && !p.enterStage(StageAsking) {
			err = p.cancel()
		}
		return err
	}); err != nil {
		return p, err
	}
	defer PauseDeadline(lead.ctx)()
	defer markAskingPerson(calls)()
	lead.clock.pauseFor(dialogQueueTimeout)
	end, waited, err := lead.g.dialogLock.acquire(lead.ctx)
	lead.clock.resume()
	if err != nil {
		return lead, err
	}
	defer end()
	if waited {
		if p, err := forEachCall(calls, (*invocation).gate); err != nil {
			return p, err
		}
		if calls = slices.DeleteFunc(slices.Clone(calls), (*invocation).isDecided); len(calls) == 0 {
			return nil, nil
		}
	}
	if p, err := putQuestions(calls); err != nil {
		e, final := errors.AsType[*Error](err)
		if final {
			return p, e
		}
	}
	return forEachCall(calls, (*invocation).gate) // which know other ways to ask where windows fail
}

// markAskingPerson counts from now on for the calls that the person is waited for, until the function
// that it returns. Each call asks so once, so nothing was counted before.
func markAskingPerson(calls []*invocation) (over func()) {
	now := time.Now()
	for _, p := range calls {
		p.mu.Lock()
		p.askingSince = now
		p.mu.Unlock()
	}
	return func() {
		for _, p := range calls {
			p.mu.Lock()
			p.personWait, p.askingSince = time.Since(now), time.Time{}
			p.mu.Unlock()
		}
	}
}

// isDecided reports whether nothing of the call is open.
func (p *invocation) isDecided() bool { return len(p.openQuestions) == 0 }

// usesDesktopDialog reports whether all that is open is for the gateway's own dialog:
// all or none, so that nobody is asked for an answer that would be thrown away. A
// question that is rather for the client goes there if the client can put it.
func (g *Gateway) usesDesktopDialog(ctx context.Context, all []decision) bool {
	if g.Dialog == nil {
		return false
	}
	byClient := ClientCapabilitiesOf(ctx).CanAsk
	for _, d := range all {
		if !d.question.AllowsChannel(DesktopDialog) {
			return false
		}
		byClient = byClient && d.question.Channels[0] == Client
	}
	return !byClient
}

// putQuestions puts the questions and adds the answers to the calls. A no ends them: what is
// refused in part is refused. The person's time is not the tools'.
func putQuestions(calls []*invocation) (*invocation, error) {
	for _, p := range calls {
		if !p.enterStage(StageAsking) {
			return p, p.cancel()
		}
		defer p.enterStage(StageGating)
	}
	lead, all := calls[0], decisions(calls)
	lead.clock.pauseFor(time.Duration(len(all)) * (dialogQueueTimeout + AskTimeout))
	defer lead.clock.resume()
	given := make([]Answer, len(all))
	for i, d := range all {
		var err error
		if given[i], err = lead.ask(d.question); err != nil {
			return d.calls[0], err
		}
		if d.question.IsRefusal(given[i].Choice) {
			all = all[:i+1]
			break
		}
	}
	for i, d := range all {
		for _, p := range d.calls {
			answers := maps.Clone(p.request.Call.Answers)
			if answers == nil {
				answers = make(map[string]Answer)
			}
			answers[d.question.ID] = given[i]
			p.request.Call.Answers = answers
		}
	}
	return nil, nil
}

// ask puts one question. Where another gateway of the person asks, it has to wait for
// that too; how long it is shown is the dialog's own concern.
func (p *invocation) ask(q Question) (Answer, error) {
	ctx, cancel := context.WithTimeout(p.ctx, dialogQueueTimeout+AskTimeout)
	defer cancel()
	q.CallerIdentity = p.request.Call.Caller.Identity
	q.IgnoreRecentRefusal = q.CallerIdentity == IdentityPage && p.outer == nil
	a, err := p.g.Dialog.Ask(ctx, q)
	if cause := p.ctx.Err(); err != nil && cause != nil {
		return a, cancelledBeforeRun(cause)
	}
	if err != nil && ctx.Err() != nil {
		e := Errorf(ConsentRequired, "nobody at this computer answered within %s", dialogQueueTimeout+AskTimeout)
		e.Hint = "Ask the person to come to the computer, and call again."
		return a, e
	}
	return a, err
}

// dialogTurn are taken one at a time, by who waits no longer than its context. The zero
// value is ready.
type dialogTurn struct {
	once  sync.Once
	taken chan struct{}
}

// acquire returns what ends the turn, and whether somebody else had it before.
func (t *dialogTurn) acquire(ctx context.Context) (end func(), waited bool, err *Error) {
	t.once.Do(func() { t.taken = make(chan struct{}, 1) })
	end = func() { <-t.taken }
	select {
	case t.taken <- struct{}{}:
		return end, false, nil
	default:
	}
	late := time.NewTimer(dialogQueueTimeout)
	defer late.Stop()
	select {
	case t.taken <- struct{}{}:
		return end, true, nil
	case <-ctx.Done():
		return nil, true, cancelledBeforeRun(ctx.Err())
	case <-late.C:
	}
	err = Errorf(ConsentRequired, "the person at this computer is being asked about other calls")
	err.Hint = "Call again when those are answered."
	err.RetryAfter = dialogQueueTimeout
	return nil, true, err
}
