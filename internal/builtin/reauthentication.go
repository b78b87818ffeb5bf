package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/policy"
	"github.com/gybob/aai-gateway/internal/policy/reauth"
)

// reauthTools are the tools that set the passphrase and confirm settings of the configuration.
type reauthTools struct {
	passphrase  *reauth.Passphrase
	confirmed   *reauth.ConfirmedSettings
	unconfirmed func() []reauth.Setting
}

const confirmParams = `{"type": "object", "additionalProperties": false, "required": ["settings"], "properties": {
	"settings": {"type": "array", "minItems": 1, "items": {"type": "object", "additionalProperties": false, "required": ["from", "key", "value"], "properties": {
		"from": {"type": "string"}, "key": {"type": "string"}, "value": {},
		"about": {"type": "string", "maxLength": 300, "description": "Its meaning, for the question"}}}, "description": "As consent_unconfirmed lists them"}}}`

// passphraseTimeout limits the time to type a new passphrase twice.
const passphraseTimeout = 5 * time.Minute

func (t reauthTools) tools() []*aai.Tool {
	set := withPrecheck(t.precheckSet, changeTool(SetPassphrase, "Set the passphrase by which a person without a screen proves that it is they", noParams, t.set))
	set.Limits.Timeout = passphraseTimeout
	return []*aai.Tool{
		set,
		readTool(ListUnconfirmed, "List the settings that do not hold because nobody has confirmed them", noParams, t.list),
		withPrecheck(t.precheckConfirm, changeTool(ConfirmSettings, "Let settings hold that widen what callers may do", confirmParams, t.confirm)),
	}
}

// precheckSet returns the error that a call to set the passphrase would fail with.
func (t reauthTools) precheckSet(ctx context.Context, _ *aai.Call) error {
	if aai.ClientCapabilitiesOf(ctx).AskSecret == nil || t.passphrase == nil {
		e := aai.Errorf(aai.PermissionDenied, "there is no terminal at which a passphrase could be typed")
		e.Hint = "Run this at a terminal: aai-gateway consent passphrase"
		return e
	}
	return t.passphrase.CheckAvailable(ctx)
}

// set asks for a new passphrase. The policy has already reauthenticated the person.
func (t reauthTools) set(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	if err := t.precheckSet(ctx, call); err != nil {
		return nil, err
	}
	ask := aai.ClientCapabilitiesOf(ctx).AskSecret
	first, err := ask(ctx, "A new passphrase for this gateway: ")
	if err != nil {
		return nil, err
	}
	first = strings.TrimSpace(first) // trimmed like every entered passphrase
	if len(first) < reauth.MinPassphraseLength {
		return nil, aai.Errorf(aai.InvalidParams, "the passphrase is too short; expected at least %d characters", reauth.MinPassphraseLength)
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

func (t reauthTools) pending() []reauth.Setting {
	if t.unconfirmed == nil {
		return nil
	}
	return t.unconfirmed()
}

func (t reauthTools) list(context.Context, *aai.Call) (*aai.Result, error) {
	return &aai.Result{Data: append([]reauth.Setting{}, t.pending()...)}, nil
}

// confirm saves a person's confirmation of settings that lack only this to have an effect.
func (t reauthTools) confirm(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	settings, err := t.settingsFromCall(call)
	if err != nil {
		return nil, err
	}
	if err := t.confirmed.Confirm(ctx, settings, policy.ReauthChannel(call)); err != nil {
		return nil, sealingError(err)
	}
	return &aai.Result{
		Text: fmt.Sprintf("%d confirmed.", len(settings)), Data: map[string]any{"confirmed": len(settings)},
		Warning: "gateways that run already take it when they are started again",
	}, nil
}

// precheckConfirm returns the error that a call to confirm would fail with.
func (t reauthTools) precheckConfirm(ctx context.Context, call *aai.Call) error {
	if _, err := t.settingsFromCall(call); err != nil {
		return err
	}
	return sealingError(t.confirmed.CheckAvailable(ctx))
}

// settingsFromCall returns the unconfirmed settings that a call names.
func (t reauthTools) settingsFromCall(call *aai.Call) (settings []reauth.Setting, err error) {
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

// sealingError adds a hint to err if sealing is not supported here.
func sealingError(err error) error {
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	e := aai.Errorf(aai.AutomationNotSupported, "what is confirmed must be sealed, and nothing can be sealed here: %w", err)
	e.Hint = "Make a place for the key of secrets (aai-gateway keychain status says how), or have root write the settings into " + policy.RootPolicyPath + "."
	return e
}

// find returns the unconfirmed setting that equals given, or nil.
func (t reauthTools) find(given any) *reauth.Setting {
	if object, ok := given.(map[string]any); ok { // its description is only for the question
		object = maps.Clone(object)
		delete(object, "about")
		given = object
	}
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

// canonical returns a value as JSON with sorted fields.
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
