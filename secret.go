package aai

import (
	"context"
	"slices"
	"strings"

	"aai/internal/hygiene"
)

// maxSaid is how much of an error's message is looked through and passed on, in bytes.
const maxSaid = 16 << 10

// unsaid returns what an error says as it may be put on record, and the error as the
// caller may have it: what is secret among the arguments goes into the agent's
// conversation no second time. The windows of apps are an exception for what is too
// short to tell: all that is set in a window counts as secret, and "it is now 5 and
// not 3" must say so.
func (r *Request) unsaid(err *Error) (said string, told *Error) {
	defer func() {
		if recover() != nil {
			e := *err
			said, e.Message = hygiene.Withheld, hygiene.Withheld
			told = &e
		}
	}()
	message := err.Message
	if len(message) > maxSaid {
		message = strings.ToValidUTF8(message[:maxSaid], "") + hygiene.CutMark
	}
	secrets := r.secrets(r.SecretParams())
	all := hygiene.NewVeil(secrets)
	e := *err
	said = all.Over(message)
	e.Message = said
	if len(r.plain) > 0 {
		secrets = r.secrets(without(r.SecretParams(), r.plain))
		e.Message = hygiene.NewVeil(slices.Clone(secrets)).Over(message)
	}
	if r.App != nil && r.App.OperatesOthers() && e.Message != message {
		e.Message = hygiene.NewVeil(slices.DeleteFunc(secrets, func(secret string) bool { return len(secret) < tellingSecret })).Over(message)
	}
	if e.Message == err.Message {
		return said, err
	}
	return said, &e
}

// SecretParams are those of the tool's secret parameters that are secret in this call.
func (r *Request) SecretParams() []string {
	if r.Tool == nil || len(r.Tool.Secret) == 0 {
		return nil
	}
	if r.Tool.Plain == nil {
		return r.Tool.Secret
	}
	return without(r.Tool.Secret, r.Tool.Plain(r.Call.Args))
}

func without(names, others []string) []string {
	if len(others) == 0 {
		return names
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(others, name) })
}

// NotSecret says of one of the tool's secret parameters that it is none in the call of
// the context, such as the name of an option that everybody sees: its caller is told it.
// The record goes without it, for what was given may have been meant for another place.
// An Action says so from the goroutine that it was called in.
func NotSecret(ctx context.Context, param string) {
	if p, _ := ctx.Value(passageKey{}).(*passage); p != nil {
		p.r.plain = append(p.r.plain, param)
	}
}

// secrets returns the values of the call that are secret: those of the parameters, and
// those that are called so.
func (r *Request) secrets(params []string) (values []string) {
	hygiene.Conceal(r.Call.Args, params, func(value any) any {
		values = hygiene.AppendTexts(values, value)
		return nil
	})
	return values
}

// tellingSecret is how many bytes what is set in a window has at least that its
// caller is not told again.
const tellingSecret = 6
