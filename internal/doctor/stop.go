package doctor

import (
	"context"

	"github.com/gybob/aai-gateway"
)

// stopped reports stops by the person. A stop of everything makes other examinations fail.
func (d *Doctor) stopped(ctx context.Context, f *Finding) {
	f.Did = "asked what you have stopped"
	result, err := call(ctx, d.cfg.Gateway, aai.BuiltinApp, "running", nil)
	if err != nil {
		f.setCallError("nobody says what is stopped", err)
		return
	}
	shown, err := dataOf[struct {
		Stops      []struct{ Call, Caller string }
		Unreadable string
	}](result)
	if err != nil {
		f.setCallError("nobody says what is stopped", err)
		return
	}
	callers := 0
	for _, s := range shown.Stops {
		switch {
		case shown.Unreadable != "":
			f.setNote("everything is stopped, since what you stopped cannot be read", shown.Unreadable, "aai-gateway start")
			return
		case s.Call == "" && s.Caller == "":
			f.setNote("everything is stopped", "You stopped it, and no agent can do anything until you start it again:", "aai-gateway start")
			return
		case s.Caller != "":
			callers++
		}
	}
	if callers > 0 {
		f.setNote(counted(callers, "caller")+" stopped", "You stopped that. Which, and how it is started again:", "aai-gateway running")
		return
	}
	f.setOK("no caller is stopped")
}
