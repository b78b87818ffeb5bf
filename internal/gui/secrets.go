package gui

import (
	"context"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// keepSecret notes the text as a secret of the conversation if it is meant for a password field.
func (v *callView) keepSecret(i int, text string) {
	if v.Snapshot.Elements[i].States.Has(desktop.Protected) {
		v.Engine.Sessions.For(v.Call).AddSecret(text)
	}
}

// redactSecrets takes the conversation's secrets out of all that the tool answers: a text that was
// meant for a password field may have landed elsewhere, and a page may repeat it in its title.
func (d *toolset) redactSecrets(tool *aai.Tool) {
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
