package gui

import (
	"context"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// keepSecret notes the text as a secret of the conversation if it is meant for a password field. A
// tab or return in a field of one line leads on to other fields, so in a window with a password field each part
// behind one is noted.
func (v *view) keepSecret(i int, text string) {
	secrets := v.engine.Sessions.For(v.call)
	if v.Snapshot.Elements[i].States.Has(desktop.Protected) {
		secrets.AddSecret(text)
	}
	if v.Snapshot.Elements[i].States.Has(desktop.Multiline) {
		return
	}
	parts := strings.FieldsFunc(text, func(r rune) bool { return r == '\t' || r == '\n' || r == '\r' })
	if len(parts) < 2 || !slices.ContainsFunc(v.Snapshot.Elements, func(e desktop.Element) bool { return e.States.Has(desktop.Protected) }) {
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
