package own

import (
	"context"

	"aai"
	"aai/internal/policy"
)

// modeTools are the tools by which a person sees and sets how much any caller may
// do.
type modeTools struct{ modes *policy.Modes }

func (t modeTools) current(context.Context, *aai.Call) (*aai.Result, error) {
	mode, err := t.modes.Current()
	r := &aai.Result{Data: map[string]any{"mode": mode}}
	if err != nil {
		r.Warning = err.Error()
	}
	return r, nil
}

func (t modeTools) set(_ context.Context, call *aai.Call) (*aai.Result, error) {
	asked := policy.Mode(text(call, "mode"))
	now, err := t.modes.Set(asked)
	if err != nil {
		return nil, aai.AsError(err)
	}
	r := &aai.Result{Data: map[string]any{"mode": now}}
	if now != asked {
		r.Warning = "the configuration (server.security_mode) or the environment says " + string(now) + ", and the stricter holds"
	}
	return r, nil
}
