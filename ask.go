package aai

import "context"

// Ask puts a question that is an Action's own, such as a server's to which a call went, in a
// window of the gateway's, in turn with those of other calls. The call's time stands still
// meanwhile. It decides nothing about a call: that is for gates. The error says that nobody
// could be asked, or nobody answered; where there are no windows it is
// AUTOMATION_NOT_SUPPORTED.
func (g *Gateway) Ask(ctx context.Context, q Question) (Answer, error) {
	if g.Dialog == nil {
		return Answer{}, Errorf(AutomationNotSupported, "there is no window in which the person could be asked")
	}
	if d, ok := g.Dialog.(ReadyAsker); ok {
		if err := d.Ready(ctx); err != nil {
			return Answer{}, err
		}
	}
	defer PauseDeadline(ctx)()
	end, _, err := g.dialogLock.acquire(ctx)
	if err != nil {
		return Answer{}, err
	}
	defer end()
	ctx, cancel := context.WithTimeout(ctx, AskTimeout)
	defer cancel()
	return g.Dialog.Ask(ctx, q)
}
