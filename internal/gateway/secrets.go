package gateway

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// RedactCredentials makes the gateway remove the secrets of the set, also those added later, from
// everything that the call of the context returns: result, error and progress. A driver calls it
// before it sends a secret to an app. Without a call in the context it does nothing.
func RedactCredentials(ctx context.Context, set *sanitize.SecretSet) {
	p, _ := ctx.Value(invocationKey{}).(*invocation)
	if p == nil {
		return
	}
	p.credentialsMu.Lock()
	defer p.credentialsMu.Unlock()
	if !slices.Contains(p.credentials, set) {
		p.credentials = append(p.credentials, set)
	}
}

// secrets are the texts that the messages of a call must not contain, beside secret arguments.
type secrets struct {
	nonSecretParams []string // secret parameters that the Action marked as not secret; only for the goroutine
	credentialsMu   sync.Mutex
	credentials     []*sanitize.SecretSet // secrets that the Action's driver sends
}

// credentialSets returns the sets that have secrets.
func (s *secrets) credentialSets() []*sanitize.SecretSet {
	s.credentialsMu.Lock()
	defer s.credentialsMu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.credentials), (*sanitize.SecretSet).IsEmpty)
}

// redactText returns the text without the credentials of the call.
func (p *invocation) redactText(text string) string {
	for _, set := range p.secretSets() {
		text = set.Redact(text)
	}
	return text
}

// withoutCredentials returns the outcome of an Action without the credentials of the call and the person's secrets.
func (p *invocation) withoutCredentials(result *aai.Result, err error) (*aai.Result, error) {
	own := p.request.App.OperatesOthers() || p.request.App.ID == aai.BuiltinApp
	for _, set := range p.secretSets() {
		if result != nil {
			result = redactResult(result, set, own)
		}
		if err != nil {
			err = redactCallError(aai.AsError(err), set)
		}
	}
	return result, err
}

// redactResult returns the result without the secrets of the set. A result of the gateway's own tools may have data of
// any type, and its screenshots contain no secret as text.
func redactResult(result *aai.Result, set *sanitize.SecretSet, own bool) *aai.Result {
	r := *result
	if own && r.Data != nil {
		r.Data, _ = aai.ToJSONValue(r.Data) // data that JSON cannot represent is omitted
	}
	r.Text, r.Warning, r.UntrustedSource, r.Data = set.Redact(r.Text), set.Redact(r.Warning), set.Redact(r.UntrustedSource), set.RedactValue(r.Data)
	r.Undo = redactUndo(r.Undo, set)
	r.Images = nil
	for _, image := range result.Images {
		if !own && set.IsIn(image.Data) {
			r.Text += "\nA picture is omitted, since it contains the person's login for the app."
			continue
		}
		r.Images = append(r.Images, aai.Image{MIME: set.Redact(image.MIME), Data: image.Data})
	}
	return &r
}

func redactCallError(err *aai.Error, set *sanitize.SecretSet) *aai.Error {
	e := *err
	e.Message, e.Hint, e.Data = set.Redact(e.Message), set.Redact(e.Hint), set.RedactValue(e.Data)
	e.Undo = redactUndo(e.Undo, set)
	e.Candidates = slices.Clone(e.Candidates)
	for i, candidate := range e.Candidates {
		e.Candidates[i] = set.Redact(candidate)
	}
	return &e
}

// redactUndo returns the Undo, or nil if it contains a secret: without the value it cannot revert the call.
func redactUndo(undo *aai.Undo, set *sanitize.SecretSet) *aai.Undo {
	if undo == nil {
		return nil
	}
	if text, err := json.Marshal(undo); err != nil || set.Redact(string(text)) != string(text) {
		return nil
	}
	return undo
}

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
	for _, set := range p.secretSets() {
		err = redactCallError(err, set)
	}
	r, message := p.request, err.Message
	if len(message) > maxErrorText {
		message = strings.ToValidUTF8(message[:maxErrorText], "") + sanitize.TruncationMark
	}
	secrets := secretValues(r, r.SecretParams())
	e := *err
	redactor := sanitize.NewRedactor(secrets)
	e.Message = redactor.Redact(message)
	said = e.Message
	if _, more := r.RecordedArgs(); len(more) > 0 {
		more = slices.DeleteFunc(more, func(text string) bool { return len(text) < minEchoedSecret })
		said = sanitize.NewRedactor(slices.Concat(secrets, more)).Redact(message)
	}
	if len(p.nonSecretParams) > 0 {
		secrets = secretValues(r, exclude(r.SecretParams(), p.nonSecretParams))
		redactor = sanitize.NewRedactor(slices.Clone(secrets))
	}
	if r.App != nil && r.App.OperatesOthers() && redactor.Redact(message) != message {
		redactor = sanitize.NewRedactor(slices.DeleteFunc(secrets, func(secret string) bool { return len(secret) < minEchoedSecret }))
	}
	e.Message, e.Data = redactor.Redact(message), redactor.RedactValue(err.Data)
	if e.Message == err.Message && err.Data == nil {
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
