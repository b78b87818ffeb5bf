package builtin

import (
	"context"
	"fmt"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/policy"
)

// modeTools read and set the security mode.
type modeTools struct{ modes *policy.ModeGate }

func (m modeTools) get(context.Context, *aai.Call) (*aai.Result, error) {
	return &aai.Result{Data: m.shown()}, nil
}

func (m modeTools) shown() answer.Mode {
	return answer.Mode{Configured: m.modes.Configured.String(), Mode: m.modes.Current().String()}
}

func (m modeTools) set(_ context.Context, call *aai.Call) (*aai.Result, error) {
	mode, err := policy.ParseMode(text(call, "mode"))
	if err != nil {
		return nil, aai.Errorf(aai.InvalidParams, "mode: %w", err)
	}
	if err := policy.SetMode(m.modes.Path, mode); err != nil {
		return nil, aai.Errorf(aai.AutomationFailed, "the mode could not be kept: %w", err)
	}
	result := &aai.Result{Data: m.shown()}
	if is := m.modes.Current(); is != mode {
		result.Warning = fmt.Sprintf("the configuration says %s, and the stricter one holds", is)
	}
	return result, nil
}
