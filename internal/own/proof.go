package own

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"aai"
	"aai/internal/policy"
	"aai/internal/proof"
)

// proofTools are the tools by which a person sets their passphrase, and confirms what
// the configuration says.
type proofTools struct {
	passphrase  *proof.Passphrase
	confirmed   *proof.Settings
	unconfirmed func() []proof.Setting
}

const confirmParams = `{"type": "object", "additionalProperties": false, "required": ["settings"], "properties": {
	"settings": {"type": "array", "minItems": 1, "items": {"type": "object", "additionalProperties": false, "required": ["from", "key", "value"], "properties": {
		"from": {"type": "string"}, "key": {"type": "string"}, "value": {}}}, "description": "As consent_unconfirmed lists them"}}}`

// typing is how long a person may take to type a new passphrase twice.
const typing = 5 * time.Minute

func (t proofTools) tools() []*aai.Tool {
	set := unless(t.cannotSet, change(SetPassphrase, "Set the passphrase by which a person without a screen proves that it is they", none, t.set))
	set.Timeout = typing
	return []*aai.Tool{
		set,
		read(Unconfirmed, "List the settings that do not hold because nobody has confirmed them", none, t.list),
		unless(t.cannotConfirm, change(Confirm, "Let settings hold that widen what callers may do", confirmParams, t.confirm)),
	}
}

// cannotSet says why a call to set the passphrase would come to nothing.
func (t proofTools) cannotSet(ctx context.Context, _ *aai.Call) error {
	if aai.AssistantOf(ctx).Secret == nil || t.passphrase == nil {
		e := aai.Errorf(aai.PermissionDenied, "there is no terminal at which a passphrase could be typed")
		e.Hint = "Run this at a terminal: aai-gateway consent passphrase"
		return e
	}
	return t.passphrase.Possible(ctx)
}

// set asks for a new passphrase. That the person may set one the gate has seen to.
func (t proofTools) set(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	if err := t.cannotSet(ctx, call); err != nil {
		return nil, err
	}
	ask := aai.AssistantOf(ctx).Secret
	first, err := ask(ctx, "A new passphrase for this gateway: ")
	if err != nil {
		return nil, err
	}
	first = strings.TrimSpace(first) // as where it is asked for
	if len(first) < proof.MinPassphrase {
		return nil, aai.Errorf(aai.InvalidParams, "the passphrase is too short; expected at least %d characters", proof.MinPassphrase)
	}
	second, err := ask(ctx, "Once more: ")
	if err != nil {
		return nil, err
	}
	if first != strings.TrimSpace(second) {
		return nil, aai.Errorf(aai.InvalidParams, "the two passphrases differ; nothing was changed")
	}
	if err := t.passphrase.Change(ctx, first); err != nil {
		return nil, err
	}
	return &aai.Result{Text: "The passphrase is set."}, nil
}

func (t proofTools) pending() []proof.Setting {
	if t.unconfirmed == nil {
		return nil
	}
	return t.unconfirmed()
}

func (t proofTools) list(context.Context, *aai.Call) (*aai.Result, error) {
	return &aai.Result{Data: append([]proof.Setting{}, t.pending()...)}, nil
}

// confirm keeps that a person confirmed settings that are in effect but for that.
func (t proofTools) confirm(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	settings, err := t.named(call)
	if err != nil {
		return nil, err
	}
	if err := t.confirmed.Confirm(ctx, settings, policy.Proof(call)); err != nil {
		return nil, unsealed(err)
	}
	return &aai.Result{
		Text: fmt.Sprintf("%d confirmed.", len(settings)), Data: map[string]any{"confirmed": len(settings)},
		Warning: "gateways that run already take it when they are started again",
	}, nil
}

// cannotConfirm says why a call to confirm would come to nothing.
func (t proofTools) cannotConfirm(ctx context.Context, call *aai.Call) error {
	if _, err := t.named(call); err != nil {
		return err
	}
	return unsealed(t.confirmed.Possible(ctx))
}

// named are the settings that a call names. They wait to be confirmed.
func (t proofTools) named(call *aai.Call) (settings []proof.Setting, err error) {
	if t.confirmed == nil {
		return nil, aai.Errorf(aai.AutomationNotSupported, "nothing can be confirmed here")
	}
	given, _ := call.Args["settings"].([]any)
	for i, item := range given {
		found := t.find(item)
		if found == nil {
			e := aai.Errorf(aai.InvalidParams, "settings[%d]: this is not among what waits to be confirmed", i)
			e.Hint = "Run aai-gateway consent confirm, which shows what there is."
			return nil, e
		}
		settings = append(settings, *found)
	}
	return settings, nil
}

// unsealed is the error of what must be sealed, with what to do where nothing can be.
func unsealed(err error) error {
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	e := aai.Errorf(aai.AutomationNotSupported, "what is confirmed must be sealed, and nothing can be sealed here: %w", err)
	e.Hint = "Make a place for the key of secrets (aai-gateway keychain status says how), or have root write the settings into " + policy.PolicyFile + "."
	return e
}

// find is the setting that waits to be confirmed and is exactly what was given.
func (t proofTools) find(given any) *proof.Setting {
	want, err := canonical(given)
	if err != nil {
		return nil
	}
	for _, setting := range t.pending() {
		if is, err := canonical(setting); err == nil && is == want {
			return &setting
		}
	}
	return nil
}

// canonical is a value as JSON with sorted fields.
func canonical(value any) (string, error) {
	b, err := json.Marshal(value)
	if err != nil {
		return "", err
	}
	var plain any
	if err := json.Unmarshal(b, &plain); err != nil {
		return "", err
	}
	b, err = json.Marshal(plain)
	return string(b), err
}
