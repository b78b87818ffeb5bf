package ax

import (
	"context"

	"aai"
	"aai/internal/desktop"
)

// keepSecret notes the text as a secret of the conversation if it is meant for a password field.
func (v *view) keepSecret(i int, text string) {
	if v.Shot.Elements[i].States.Has(desktop.Protected) {
		v.Desk.Sessions.Of(v.Call).AddSecret(text)
	}
}

// concealing takes the conversation's secrets out of all that the tool answers: a text that was
// meant for a password field may have landed elsewhere, and a page may repeat it in its title.
func (d *desk) concealing(tool *aai.Tool) {
	run := tool.Run
	tool.Run = func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
		result, err := run(ctx, call)
		secrets := d.Sessions.Of(call).Secrets()
		if secrets == nil {
			return result, err
		}
		if err != nil {
			e := *aai.AsError(err)
			e.Message, e.Hint = secrets.Over(e.Message), secrets.Over(e.Hint)
			e.Candidates = append([]string(nil), e.Candidates...)
			for i, text := range e.Candidates {
				e.Candidates[i] = secrets.Over(text)
			}
			return nil, &e
		}
		told := *result
		told.Text, told.Warning = secrets.Over(told.Text), secrets.Over(told.Warning)
		if data, err := aai.Plain(told.Data); err == nil && told.Data != nil {
			told.Data = secrets.Within(data)
		}
		return &told, nil
	}
}
