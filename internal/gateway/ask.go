package gateway

import (
	"context"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway/actionctx"
)

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
