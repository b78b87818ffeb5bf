package gui

import (
	"context"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gui/params"
)

// focusHint replaces a hint to use the mode "focus" for a tool without that mode.
const focusHint = `ax_click and ax_type have the mode "focus", which uses the person's own pointer and keyboard.`

// actionWithHints returns the tool's action with adapted errors. They contain no delivery for a
// tool that delivers nothing, and no hint at a mode that the tool lacks.
func (s spec) actionWithHints(names []string) aai.Action {
	return func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
		result, err := s.run(ctx, call)
		if err == nil {
			return result, nil
		}
		e := *aai.AsError(err)
		switch {
		case s.effect == aai.Reads && !params.Launches(call):
			e.Delivery = ""
		case e.Code == aai.InvalidParams && e.Delivery == "": // parameters are read before any action
			e.Delivery = aai.NotDelivered
		}
		if !slices.Contains(names, "mode") {
			e.Hint = withoutMode(e.Hint)
		}
		return nil, &e
	}
}

// targets is ResolveApp for the tools; errors of tools that deliver nothing have no delivery.
func (d *engine) targets(tools []*aai.Tool) func(context.Context, *aai.Call, string) (*aai.App, error) {
	return func(ctx context.Context, call *aai.Call, name string) (*aai.App, error) {
		app, err := d.ResolveApp(ctx, call, name)
		if err == nil || params.Launches(call) || !slices.ContainsFunc(tools, func(t *aai.Tool) bool { return t.Name == call.Tool && t.Effect == aai.Reads }) {
			return app, err
		}
		e := *aai.AsError(err)
		e.Delivery = ""
		return nil, &e
	}
}

// withoutMode removes the sentences about the tool's own mode from a hint.
func withoutMode(hint string) string {
	var kept []string
	for _, sentence := range strings.SplitAfter(hint, ". ") {
		if !strings.Contains(sentence, `mode "focus"`) || strings.Contains(sentence, "ax_click by") || strings.Contains(sentence, "by ax_click") {
			kept = append(kept, strings.TrimSpace(sentence))
		} else if !slices.Contains(kept, focusHint) {
			kept = append(kept, focusHint)
		}
	}
	return strings.Join(kept, " ")
}
