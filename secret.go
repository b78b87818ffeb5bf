package aai

import (
	"context"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway/internal/sanitize"
)

// maxErrorText is how much of an error's message is looked through and passed on, in bytes.
const maxErrorText = 16 << 10

// redactError returns what an error says as it may be put on record, and the error as the
// caller may have it: what is secret among the arguments goes into the agent's
// conversation no second time. The windows of apps are an exception for what is too
// short to tell: all that is set in a window counts as secret, and "it is now 5 and
// not 3" must say so.
func (r *Request) redactError(err *Error) (said string, told *Error) {
	defer func() {
		if recover() != nil {
			e := *err
			said, e.Message = sanitize.Omitted, sanitize.Omitted
			told = &e
		}
	}()
	message := err.Message
	if len(message) > maxErrorText {
		message = strings.ToValidUTF8(message[:maxErrorText], "") + sanitize.TruncationMark
	}
	secrets := r.secretValues(r.SecretParams())
	all := sanitize.NewRedactor(secrets)
	e := *err
	said = all.Redact(message)
	e.Message = said
	if len(r.nonSecretParams) > 0 {
		secrets = r.secretValues(exclude(r.SecretParams(), r.nonSecretParams))
		e.Message = sanitize.NewRedactor(slices.Clone(secrets)).Redact(message)
	}
	if r.App != nil && r.App.OperatesOthers() && e.Message != message {
		e.Message = sanitize.NewRedactor(slices.DeleteFunc(secrets, func(secret string) bool { return len(secret) < minEchoedSecret })).Redact(message)
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
	if r.Tool.NonSecret == nil {
		return r.Tool.Secret
	}
	return exclude(r.Tool.Secret, r.Tool.NonSecret(r.Call.Args))
}

func exclude(names, others []string) []string {
	if len(others) == 0 {
		return names
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(others, name) })
}

// MarkNotSecret says of one of the tool's secret parameters that it is none in the call of
// the context, such as the name of an option that everybody sees: its caller is told it.
// The record goes without it, for what was given may have been meant for another place.
// An Action says so from the goroutine that it was called in.
func MarkNotSecret(ctx context.Context, param string) {
	if p, _ := ctx.Value(invocationKey{}).(*invocation); p != nil {
		p.request.nonSecretParams = append(p.request.nonSecretParams, param)
	}
}

// secretValues returns the values of the call that are secret: those of the parameters, and
// those that are called so.
func (r *Request) secretValues(params []string) (values []string) {
	sanitize.Redact(r.Call.Args, params, func(value any) any {
		values = sanitize.AppendTexts(values, value)
		return nil
	})
	return values
}

// minEchoedSecret is how many bytes what is set in a window has at least that its
// caller is not told again.
const minEchoedSecret = 6
