package gateway

import (
	"context"
	"slices"
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
func (s *secrets) redactText(text string) string {
	for _, set := range s.credentialSets() {
		text = set.Redact(text)
	}
	return text
}

// withoutCredentials returns the outcome of an Action without the credentials of the call.
func (s *secrets) withoutCredentials(result *aai.Result, err error) (*aai.Result, error) {
	for _, set := range s.credentialSets() {
		if result != nil {
			result = redactResult(result, set)
		}
		if err != nil {
			err = redactCallError(aai.AsError(err), set)
		}
	}
	return result, err
}

func redactResult(result *aai.Result, set *sanitize.SecretSet) *aai.Result {
	r := *result
	r.Text, r.Warning, r.UntrustedSource, r.Data = set.Redact(r.Text), set.Redact(r.Warning), set.Redact(r.UntrustedSource), set.RedactValue(r.Data)
	r.Images = nil
	for _, image := range result.Images {
		if set.IsIn(image.Data) {
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
	e.Candidates = slices.Clone(e.Candidates)
	for i, candidate := range e.Candidates {
		e.Candidates[i] = set.Redact(candidate)
	}
	return &e
}
