package aai

import "context"

// Ask shows a question of an Action, such as one that its server asked, in the gateway's dialog.
// It waits for the dialogs of other calls, and pauses the call's deadline meanwhile. The answer
// permits no call; only gates do. The error reports that the question could not be shown or had
// no answer, and is AUTOMATION_NOT_SUPPORTED without a dialog.
func (g *Gateway) Ask(ctx context.Context, q Question) (Answer, error) {
	if g.Dialog == nil {
		return Answer{}, Errorf(AutomationNotSupported, "no window can show the person a question")
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
