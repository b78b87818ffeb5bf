package gateway

import (
	"context"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway/actionctx"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// PersonSecrets holds the secrets of the person that calls name as {{secret:NAME}}. The placeholder stays in the
// arguments of a call, so that gates, the journal, undo and kept results never see the value. It is safe for concurrent
// use.
type PersonSecrets interface {
	// Use returns the secret with the name, or an error for an unknown one.
	Use(ctx context.Context, name string) (aai.SecretUse, error)
	// Check returns an error unless the secret is bound to the place.
	Check(use aai.SecretUse, at aai.SecretPlace) error
	// Value returns the value of the secret for the place, or an error if the secret is not bound to it. From then on
	// Redactions contains the value.
	Value(ctx context.Context, use aai.SecretUse, at aai.SecretPlace) (string, error)
	// Redactions returns the set of values that no reply may contain; nil for none.
	Redactions(ctx context.Context) *sanitize.SecretSet
}

// passesSecrets reports whether the call hands {{secret:NAME}} on as text, to calls of its own or to the gateway.
func passesSecrets(r *aai.Request) bool {
	a := r.Assessment()
	return r.App.ID == aai.BuiltinApp || a.OnlyMakesCalls || a.RunsScript
}

// resolveSecrets finds the secrets that the arguments name, and checks that each may go there as far as that is known
// before the call runs. Nothing is sent for an unknown or a foreign one.
func (p *invocation) resolveSecrets() *aai.Error {
	r := p.request
	r.Secrets = nil
	if passesSecrets(r) {
		return nil
	}
	found, err := secretArguments(r.Call.Args)
	if err != nil {
		return aai.Errorf(aai.InvalidParams, "%w", err)
	}
	if path := misspelledSecret(r.Call.Args); path != "" {
		return aai.Errorf(aai.InvalidParams, "%s: expected {{secret:NAME}} without blanks around the word secret", aai.CleanLabel(path, maxName))
	}
	ctx := p.clock.within(p.ctx)
	for _, argument := range found {
		for _, name := range argument.text.names {
			use, err := p.secretUse(ctx, name, argument.path)
			if err != nil {
				return p.deadlineError(ctx, err)
			}
			if !slices.Contains(r.Secrets, use) {
				r.Secrets = append(r.Secrets, use)
			}
		}
	}
	return nil
}

// secretUse returns the use of a secret in the argument with the path.
func (p *invocation) secretUse(ctx context.Context, name, path string) (aai.SecretUse, error) {
	r := p.request
	windows := r.App.OperatesOthers()
	fills := r.Tool.Privacy.FillsSecrets && slices.Contains(r.Tool.Privacy.Secret, path)
	if windows && !fills || strings.HasSuffix(path, nameOfMember) {
		e := aai.Errorf(aai.InvalidParams, "%s: a secret cannot be used here", aai.CleanLabel(path, maxName))
		e.Hint = "In windows a secret goes into a field: by ax_type, ax_set_value or ax_fill. In other tools it is the value of an argument."
		return aai.SecretUse{}, e
	}
	if p.g.Secrets == nil {
		return aai.SecretUse{}, aai.Errorf(aai.AutomationNotSupported, "this gateway has no secrets")
	}
	use, err := p.g.Secrets.Use(ctx, name)
	if err != nil || windows {
		return use, err
	}
	use.Argument = path
	return use, p.g.Secrets.Check(use, aai.SecretPlace{App: r.Call.Target.ID, Argument: path})
}

// filledCall returns the call for the Action of a tool without windows, with the values of its secrets.
func (p *invocation) filledCall(ctx context.Context) (*aai.Call, error) {
	r := p.request
	if r.App.OperatesOthers() || passesSecrets(r) {
		return r.Call, nil
	}
	if found, err := secretArguments(r.Call.Args); len(found) == 0 || err != nil {
		return r.Call, err
	}
	args, err := fillArguments(r.Call.Args, "", func(path string, t secretText) (string, error) {
		return p.fill(ctx, t, aai.SecretPlace{App: r.Call.Target.ID, Argument: path})
	})
	if err != nil {
		e := *aai.AsError(err)
		e.Delivery = aai.NotDelivered
		return nil, &e
	}
	filled := *r.Call
	filled.Args, _ = args.(map[string]any)
	return &filled, nil
}

// fill returns the text with the values of its secrets for the place. Only secrets that the gates have admitted for the
// call are filled. The time that a source needs to ask the person does not count.
func (p *invocation) fill(ctx context.Context, t secretText, at aai.SecretPlace) (string, error) {
	defer actionctx.PauseDeadline(ctx)()
	return t.fill(func(name string) (string, error) {
		use, err := p.admittedSecret(name, at)
		if err != nil {
			return "", err
		}
		return p.g.Secrets.Value(ctx, use, at)
	})
}

// admittedSecret returns the use of a secret in the call.
func (p *invocation) admittedSecret(name string, at aai.SecretPlace) (aai.SecretUse, error) {
	i := slices.IndexFunc(p.request.Secrets, func(use aai.SecretUse) bool { return use.Name == name && use.Argument == at.Argument })
	if i < 0 {
		e := aai.Errorf(aai.ConsentRequired, "the secret %s was not admitted for this call", aai.CleanLabel(name, maxName))
		e.Delivery = aai.NotDelivered
		return aai.SecretUse{}, e
	}
	return p.request.Secrets[i], nil
}

// CheckSecrets returns an error unless all secrets in a text of the context's call are bound to the place. An Action on
// windows calls it for all fields before it fills the first.
func CheckSecrets(ctx context.Context, text string, at aai.SecretPlace) error {
	_, err := mapSecrets(ctx, text, func(p *invocation, t secretText) (string, error) {
		return t.fill(func(name string) (string, error) {
			use, err := p.admittedSecret(name, at)
			if err != nil {
				return "", err
			}
			return "", p.g.Secrets.Check(use, at)
		})
	})
	return err
}

// FillSecrets returns a text of the context's call with the values of its secrets, or an error if one is not bound to
// the place. An Action on windows calls it right before it puts the text into a field.
func FillSecrets(ctx context.Context, text string, at aai.SecretPlace) (string, error) {
	return mapSecrets(ctx, text, func(p *invocation, t secretText) (string, error) { return p.fill(ctx, t, at) })
}

// mapSecrets returns the result of f for the text, if it has a secret or an escaped mark.
func mapSecrets(ctx context.Context, text string, f func(*invocation, secretText) (string, error)) (string, error) {
	if !strings.Contains(text, secretOpen) {
		return text, nil
	}
	t, err := parseSecrets(text)
	if err != nil {
		return "", aai.Errorf(aai.InvalidParams, "%w", err)
	}
	if len(t.names) == 0 {
		return t.literals[0], nil
	}
	p, _ := ctx.Value(invocationKey{}).(*invocation)
	if p == nil || p.g.Secrets == nil {
		return "", aai.Errorf(aai.AutomationNotSupported, "secrets can be filled only in a call through the gateway")
	}
	return f(p, t)
}

// secretSets returns the sets of texts that nothing about the call may contain.
func (p *invocation) secretSets() []*sanitize.SecretSet {
	sets := p.credentialSets()
	if p.g == nil || p.g.Secrets == nil {
		return sets
	}
	if all := p.g.Secrets.Redactions(p.ctx); all != nil && !all.IsEmpty() {
		sets = append(sets, all)
	}
	return sets
}

// secretsOf returns the set of the person's secrets that the context's call must not show; nil for none.
func secretsOf(ctx context.Context) *sanitize.SecretSet {
	p, _ := ctx.Value(invocationKey{}).(*invocation)
	if p == nil || p.g.Secrets == nil {
		return nil
	}
	if all := p.g.Secrets.Redactions(ctx); all != nil && !all.IsEmpty() {
		return all
	}
	return nil
}

// HasSecrets reports whether the person has secrets that the context's call must not show.
func HasSecrets(ctx context.Context) bool { return secretsOf(ctx) != nil }

// RepeatsPart reports whether the text repeats a part of a secret of the person; see [sanitize.SecretSet.HasPart].
func RepeatsPart(ctx context.Context, text string, least, percent int) bool {
	all := secretsOf(ctx)
	return all != nil && text != "" && all.HasPart(text, least, percent)
}

// RepeatsSecret reports whether the text repeats a secret of the person.
func RepeatsSecret(ctx context.Context, text string) bool {
	all := secretsOf(ctx)
	return all != nil && text != "" && all.Redact(text) != text
}
