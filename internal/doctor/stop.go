package doctor

import (
	"context"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
)

// stopped reports stops by the person. A stop of everything makes other examinations fail.
func (d *Doctor) stopped(ctx context.Context, f *Finding) {
	shown, ok := ask[answer.ActiveCalls[answer.ActiveCall]](ctx, d, f, "running", "the list of stopped callers is unknown")
	if !ok {
		return
	}
	callers := 0
	for _, s := range shown.Stops {
		switch {
		case shown.Unreadable != "":
			f.setNote("everything is stopped, since the list of stopped callers cannot be read", shown.Unreadable,
				"aai-gateway start")
			return
		case s.IsEverything():
			f.setNote("everything is stopped", "You stopped it. Agents can act again when you start it:", "aai-gateway start")
			return
		case s.Caller != "":
			callers++
		}
	}
	if callers > 0 {
		f.setNote(aai.Count(callers, "caller")+" stopped", "You stopped them. To list them and start them again:",
			"aai-gateway running")
		return
	}
	f.setOK("no caller is stopped")
}
