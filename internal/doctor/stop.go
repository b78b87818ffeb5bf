package doctor

import (
	"context"

	"aai"
)

// stops says what the person has stopped: where that is everything, nothing else is well.
func (d *Doctor) stops(ctx context.Context, f *Finding) {
	f.Did = "asked what you have stopped"
	result, err := call(ctx, d.cfg.Gateway, aai.OwnApp, "running", nil)
	if err != nil {
		f.fails("nobody says what is stopped", err)
		return
	}
	shown, err := dataOf[struct {
		Stops      []struct{ Call, Caller string }
		Unreadable string
	}](result)
	if err != nil {
		f.fails("nobody says what is stopped", err)
		return
	}
	callers := 0
	for _, s := range shown.Stops {
		switch {
		case shown.Unreadable != "":
			f.note("everything is stopped, since what you stopped cannot be read", shown.Unreadable, "aai-gateway start")
			return
		case s.Call == "" && s.Caller == "":
			f.note("everything is stopped", "You stopped it, and no agent can do anything until you start it again:", "aai-gateway start")
			return
		case s.Caller != "":
			callers++
		}
	}
	if callers > 0 {
		f.note(count(callers, "caller")+" stopped", "You stopped that. Which, and how it is started again:", "aai-gateway running")
		return
	}
	f.well("no caller is stopped")
}
