package gui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
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

// keepSecret notes the text as a secret of the conversation if it is meant for a password field. A
// tab or return in a field of one line leads on to other fields, so in a window with a password field each part
// behind one is noted.
func (v *view) keepSecret(i int, text string) {
	secrets := v.engine.Sessions.For(v.call)
	if v.snapshot.Elements[i].States.Has(desktop.Protected) {
		secrets.AddSecret(text)
	}
	if v.snapshot.Elements[i].States.Has(desktop.Multiline) {
		return
	}
	parts := strings.FieldsFunc(text, func(r rune) bool { return r == '\t' || r == '\n' || r == '\r' })
	if len(parts) < 2 || !slices.ContainsFunc(v.snapshot.Elements, func(e desktop.Element) bool { return e.States.Has(desktop.Protected) }) {
		return
	}
	for _, part := range parts[1:] {
		secrets.AddSecret(part)
	}
}

// redactSecrets redacts the conversation's secrets in every reply of the tool. A text for a
// password field may have landed elsewhere, and a page may repeat it in its title.
func (d *engine) redactSecrets(tool *aai.Tool) {
	run := tool.Run
	tool.Run = func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
		result, err := run(ctx, call)
		secrets := d.Sessions.For(call).SecretRedactor()
		if secrets == nil {
			return result, err
		}
		if err != nil {
			e := *aai.AsError(err)
			e.Message, e.Hint = secrets.Redact(e.Message), secrets.Redact(e.Hint)
			e.Candidates = append([]string(nil), e.Candidates...)
			for i, text := range e.Candidates {
				e.Candidates[i] = secrets.Redact(text)
			}
			return nil, &e
		}
		told := *result
		told.Text, told.Warning = secrets.Redact(told.Text), secrets.Redact(told.Warning)
		if data, err := aai.ToJSONValue(told.Data); err == nil && told.Data != nil {
			told.Data = secrets.RedactValue(data)
		}
		return &told, nil
	}
}
