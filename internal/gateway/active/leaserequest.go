package active

import (
	"context"
	"errors"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// leasePoll is the interval at which a waiting agent tries to get a lease.
const leasePoll = 200 * time.Millisecond

// Request takes the lease of the call's target as Take does. If another agent has it, Request asks the
// person to give it to the caller, or else waits for it.
func (l *LeaseStore) Request(ctx context.Context, call *aai.Call, started string, wait time.Duration, ask bool) (answer.Lease, error) {
	if call.Caller.Door != aai.DoorMCP {
		return answer.Lease{}, aai.Errorf(aai.InvalidParams, "only agents have leases; calls of the person need none")
	}
	lease, busy := l.take(ctx, call, started, false)
	if busy != nil && ask {
		if err := l.ask(ctx, call, started); err != nil {
			return lease, err
		}
		lease, busy = l.take(ctx, call, started, true)
	}
	for begun := time.Now(); busy != nil && time.Since(begun) < wait; lease, busy = l.take(ctx, call, started, false) {
		gateway.Progress(ctx, time.Since(begun).Seconds(), wait.Seconds(), "Waiting for "+aai.CleanLabel(call.Target.Name, 60))
		if err := aai.Sleep(ctx, leasePoll); err != nil {
			return lease, err
		}
	}
	if lease.Yours = busy == nil; lease.Yours && lease.Until.IsZero() {
		return lease, aai.Errorf(aai.AutomationFailed, "the lease cannot be stored, so agents may act in the program at once; the gateway's log has the cause")
	}
	return lease, busy
}

// allowLease is the choice by which the person gives a lease to another agent.
const allowLease = "allow"

// ask asks the person whether the caller may work in the program in place of the agent that works there.
func (l *LeaseStore) ask(ctx context.Context, call *aai.Call, started string) error {
	mine, holder := newLeaseRow(call, started), ""
	l.mu.Lock()
	if held := l.find(mine); held != nil {
		holder = held.String()
	}
	l.mu.Unlock()
	answer, err := l.Ask(ctx, aai.Question{
		ID: "lease", Channels: []aai.Channel{aai.DesktopDialog}, CallerIdentity: call.Caller.Identity,
		Title: "Let another agent work in " + mine.App + "?", PublicTitle: "Let another agent work in a program?",
		Text: "This agent wants to work in the program:\n" + aai.QuoteMark + mine.Lease.Holder() + "\nIt is taken:\n" + aai.QuoteMark + holder +
			"\nIf you allow it, the agent that works there now can act there only when the other has finished.",
		Choices: []aai.Choice{{ID: "refuse", Label: "Leave it"}, {ID: allowLease, Label: "Let it work there"}},
	})
	if err == nil && answer.Choice == allowLease {
		return nil
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		err = aai.Errorf(aai.ConsentRequired, "the person at this computer did not answer")
	case err == nil:
		err = aai.Errorf(aai.PermissionDenied, "the person leaves %s to the agent that works there", mine.App)
	}
	e := *aai.AsError(err)
	e.Hint = `Wait for the program: give "wait_seconds" instead of "ask".`
	return &e
}
