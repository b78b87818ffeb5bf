package gateway

import (
	"context"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// maxErrorText is the number of bytes of an error message that are redacted and passed on.
const maxErrorText = 16 << 10

// redactError returns said, the message for the journal, and told, the error for the caller, without
// the secret arguments. They must not appear in the agent's conversation again. Errors about
// windows keep secrets that are too short to identify. Every value set in a window counts as
// secret, and "it is now 5 and not 3" must remain readable.
func (p *invocation) redactError(err *aai.Error) (said string, told *aai.Error) {
	defer func() {
		if recover() != nil {
			e := *err
			said, e.Message = sanitize.Omitted, sanitize.Omitted
			told = &e
		}
	}()
	r, message := p.request, err.Message
	if len(message) > maxErrorText {
		message = strings.ToValidUTF8(message[:maxErrorText], "") + sanitize.TruncationMark
	}
	secrets := secretValues(r, r.SecretParams())
	e := *err
	e.Message = sanitize.NewRedactor(secrets).Redact(message)
	said = e.Message
	if _, more := r.RecordedArgs(); len(more) > 0 {
		more = slices.DeleteFunc(more, func(text string) bool { return len(text) < minEchoedSecret })
		said = sanitize.NewRedactor(slices.Concat(secrets, more)).Redact(message)
	}
	if len(p.nonSecretParams) > 0 {
		secrets = secretValues(r, exclude(r.SecretParams(), p.nonSecretParams))
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

func exclude(names, others []string) []string {
	if len(others) == 0 {
		return names
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(others, name) })
}

// MarkNotSecret marks a secret parameter as not secret in the call of the context, such as the
// name of a visible option. The caller then sees it in errors; the journal still omits it, since
// the value may have been meant for another field. An Action calls it from its own goroutine.
func MarkNotSecret(ctx context.Context, param string) {
	if p, _ := ctx.Value(invocationKey{}).(*invocation); p != nil && !slices.Contains(p.nonSecretParams, param) {
		p.nonSecretParams = append(p.nonSecretParams, param)
	}
}

// secretValues returns the secret values of the call: of params, and of members with names that
// mark secrets.
func secretValues(r *aai.Request, params []string) (values []string) {
	sanitize.Redact(r.Call.Args, params, func(value any) any {
		values = sanitize.AppendTexts(values, value)
		return nil
	})
	return values
}

// minEchoedSecret is the length in bytes from which a value set in a window is hidden from its
// caller in errors.
const minEchoedSecret = 6
