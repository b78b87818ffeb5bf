package gui

import (
	"context"
	"fmt"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
)

// maxNameOnSign is the maximum length of a name on the person's sign, in characters.
const maxNameOnSign = 30

// showToPerson makes the tool show the person that an agent acts, and makes it fail while the
// person cannot see the screen.
func (d *engine) showToPerson(tool *aai.Tool) {
	run := tool.Run
	tool.Run = func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
		b := d.OpenBackend()
		if b.PauseReason != nil {
			if reason := b.PauseReason(ctx); reason != "" {
				return nil, inputlock.PausedError(reason)
			}
		}
		if b.Indicator != nil {
			defer b.Indicator.Show(signLabel(call))()
		}
		return run(ctx, call)
	}
}

// signLabel returns the sentence of the person's sign about the call.
func signLabel(call *aai.Call) string {
	label := "An agent acts"
	if name := aai.CleanLabel(call.Caller.Name, maxNameOnSign); name != "" {
		label = fmt.Sprintf("An agent named %q acts", name) // the name is the agent's own claim
	}
	if call.Target != nil && call.Target.PID != 0 {
		label += " in " + aai.CleanLabel(call.Target.Name, maxNameOnSign)
	}
	return label
}
