package gateway

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway/actionctx"
)

// A decision is a question to a person, and the calls that it concerns.
type decision struct {
	question aai.Question
	calls    []*invocation
}

// decisions returns the open questions of the calls. Questions of several calls with one ID are
// merged if a gate can do so.
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

// merged returns decisions with one ID, merged to as few as a gate can.
func merged(same []decision) []decision {
	if len(same) < 2 {
		return same
	}
	var one decision
	var asked []aai.PendingQuestion
	for _, d := range same {
		asked = append(asked, aai.PendingQuestion{Request: d.calls[0].request, Question: d.question})
		one.calls = append(one.calls, d.calls...)
	}
	for _, gate := range one.calls[0].g.Gates {
		if j, joins := gate.(aai.QuestionMerger); joins {
			var can bool
			if one.question, can = j.MergeQuestions(asked); can {
				return []decision{one}
			}
		}
	}
	half := len(same) / 2
	return append(merged(same[:half]), merged(same[half:])...)
}

// uniqueQuestions returns the questions for a door, which identifies them by ID. The second of
// two with one ID is asked when the calls are repeated.
func uniqueQuestions(all []decision) []aai.Question {
	var questions []aai.Question
	for _, d := range all {
		if !slices.ContainsFunc(questions, func(q aai.Question) bool { return q.ID == d.question.ID }) {
			questions = append(questions, d.question)
		}
	}
	return questions
}

// askPerson asks the person all open questions of the calls in one round; the gates judge the
// answers. No slot is held meanwhile. On failure it returns the call that failed.
func askPerson(calls []*invocation) (*invocation, *aai.Error) {
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

// forEachCall runs f for each of the calls, with the clock of each resumed. On failure it returns
// the call that failed.
func forEachCall(calls []*invocation, f func(*invocation) *aai.Error) (*invocation, *aai.Error) {
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

// precheck returns the reason why the call would fail. A check of a program's windows runs only
// for callers that may see them. For the whole screen the check reveals only whether a screen
// exists.
func (p *invocation) precheck() *aai.Error {
	r, ctx := p.request, p.clock.within(p.ctx)
	if r.Tool.Precheck == nil || p.hasPlaceholders || r.App.OperatesOthers() && !r.IsWholeScreen() && !p.g.canSee(ctx, r) {
		return nil
	}
	if door := r.Call.Caller.Door; r.App.ID == aai.BuiltinApp && !r.Assessment().PrecheckPublic && door != aai.DoorCLI && door != aai.DoorWeb {
		return nil // decisions about others are hidden from agents
	}
	return p.deadlineError(ctx, r.Tool.Precheck(ctx, r.Call))
}

// askByDialog asks the open questions in the gateway's own dialog. The receipt of each call is on
// disk before. After a wait for another call's dialog the gates check again, since its answer may
// settle this question too. Questions that cannot be shown stay open.
func askByDialog(calls []*invocation) (*invocation, *aai.Error) {
	lead := calls[0]
	if d, ok := lead.g.Dialog.(aai.ReadyAsker); ok && d.Ready(lead.ctx) != nil {
		return nil, nil
	}
	if p, err := forEachCall(calls, func(p *invocation) *aai.Error {
		err := p.record(func(e *aai.Entry) { e.Kind, e.Time, e.Durable = aai.Received, time.Now(), true })
		if err == nil && !p.enterStage(StageAsking) {
			err = p.cancel()
		}
		return err
	}); err != nil {
		return p, err
	}
	defer actionctx.PauseDeadline(lead.ctx)()
	defer markAskingPerson(calls)()
	lead.clock.pauseFor(dialogQueueTimeout)
	asking, over := whileClientLasts(lead.ctx)
	defer over()
	end, waited, err := lead.g.dialogLock.acquire(asking)
	lead.clock.resume()
	if err != nil {
		return lead, err
	}
	defer end()
	if waited {
		if p, err := forEachCall(calls, (*invocation).check); err != nil {
			return p, err
		}
		if calls = slices.DeleteFunc(slices.Clone(calls), func(p *invocation) bool { return p.isDecided() }); len(calls) == 0 {
			return nil, nil
		}
	}
	if p, err := putQuestions(calls); err != nil {
		e, final := errors.AsType[*aai.Error](err)
		if final {
			return p, e
		}
	}
	return forEachCall(calls, (*invocation).check) // gates know other channels if dialogs fail
}

// asking holds the questions of a call, and the time that the person takes for them.
type asking struct {
	openQuestions []aai.Question // only for the goroutine
	personAsked   bool           // only for the goroutine
	waitMu        sync.Mutex     // guards the fields below
	since         time.Time      // start of the wait; zero: not waiting
	total         time.Duration  // of an ended wait
}

// markAskingPerson starts counting the wait for the person, until the returned function is
// called. It runs once for each call, so no earlier wait is lost.
func markAskingPerson(calls []*invocation) (over func()) {
	now := time.Now()
	for _, p := range calls {
		p.setWait(now, 0)
	}
	return func() {
		for _, p := range calls {
			p.setWait(time.Time{}, time.Since(now))
		}
	}
}

func (a *asking) setWait(since time.Time, total time.Duration) {
	a.waitMu.Lock()
	defer a.waitMu.Unlock()
	a.since, a.total = since, total
}

// waited returns the time that the call has waited for the person.
func (a *asking) waited() time.Duration {
	a.waitMu.Lock()
	defer a.waitMu.Unlock()
	if !a.since.IsZero() {
		return time.Since(a.since)
	}
	return a.total
}

// isDecided reports whether the call has no open question.
func (a *asking) isDecided() bool { return len(a.openQuestions) == 0 }

// usesDesktopDialog reports whether all open questions are for the gateway's own dialog: all or
// none, so that no answer is thrown away. Questions that prefer the client go there if the client
// can ask them.
func (g *Gateway) usesDesktopDialog(ctx context.Context, all []decision) bool {
	if g.Dialog == nil || aai.IsNonInteractive(ctx) {
		return false
	}
	byClient := aai.ClientCapabilitiesOf(ctx).CanAsk
	for _, d := range all {
		if !d.question.AllowsChannel(aai.DesktopDialog) {
			return false
		}
		byClient = byClient && d.question.Channels[0] == aai.Client
	}
	return !byClient
}

// putQuestions asks the questions and adds the answers to the calls. The first refusal ends the
// round, since a partly refused call is refused. The person's time does not count against the
// tools.
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
	given := make([]aai.Answer, len(all))
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
				answers = make(map[string]aai.Answer)
			}
			answers[d.question.ID] = given[i]
			p.request.Call.Answers = answers
		}
	}
	return nil, nil
}

// ask shows one question. The time includes waiting for the dialogs of the person's other
// gateways; the dialog itself limits the time of display.
func (p *invocation) ask(q aai.Question) (aai.Answer, error) {
	lasting, over := whileClientLasts(p.ctx)
	defer over()
	ctx, cancel := context.WithTimeout(lasting, dialogQueueTimeout+AskTimeout)
	defer cancel()
	q.CallerIdentity = p.request.Call.Caller.Identity
	q.IgnoreRecentRefusal = q.CallerIdentity == aai.IdentityPage && p.outer == nil
	a, err := p.g.Dialog.Ask(ctx, q)
	if cause := p.ctx.Err(); err != nil && cause != nil {
		return a, cancelledBeforeRun(cause)
	}
	if err != nil && lasting.Err() != nil {
		return a, aai.Errorf(aai.ConsentRequired, "the client closed its input before the person at this computer answered")
	}
	if err != nil && ctx.Err() != nil {
		e := aai.Errorf(aai.ConsentRequired, "the person at this computer did not answer within %s", dialogQueueTimeout+AskTimeout)
		e.Hint = "Ask the person to come to the computer, and call again."
		return a, e
	}
	return a, err
}

// dialogMutex is a lock with a limited wait. The zero value is ready.
type dialogMutex struct {
	once  sync.Once
	taken chan struct{}
}

// acquire returns the function that releases the lock, and whether it had to wait.
func (t *dialogMutex) acquire(ctx context.Context) (end func(), waited bool, err *aai.Error) {
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
	err = aai.Errorf(aai.ConsentRequired, "the person at this computer is being asked about other calls")
	err.Hint = "Call again when those are answered."
	err.RetryAfter = dialogQueueTimeout
	return nil, true, err
}

// Ask shows a question of an Action, such as one that its server asked, in the gateway's dialog.
// It waits for the dialogs of other calls, and pauses the call's deadline meanwhile. The answer
// permits no call; only gates do. The error reports that the question could not be shown or had
// no answer, and is AUTOMATION_NOT_SUPPORTED without a dialog.
func (g *Gateway) Ask(ctx context.Context, q aai.Question) (aai.Answer, error) {
	if g.Dialog == nil {
		return aai.Answer{}, aai.Errorf(aai.AutomationNotSupported, "no window can show the person a question")
	}
	if d, ok := g.Dialog.(aai.ReadyAsker); ok {
		if err := d.Ready(ctx); err != nil {
			return aai.Answer{}, err
		}
	}
	defer actionctx.PauseDeadline(ctx)()
	end, _, err := g.dialogLock.acquire(ctx)
	if err != nil {
		return aai.Answer{}, err
	}
	defer end()
	ctx, cancel := context.WithTimeout(ctx, AskTimeout)
	defer cancel()
	return g.Dialog.Ask(ctx, q)
}
