package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

func newConsentPassphrase(r *run) *cobra.Command {
	return r.newToolCommand(&cobra.Command{
		Use:   "passphrase",
		Short: "Set the passphrase that authenticates you where there is no screen",
		Long: "Sets the passphrase that authenticates you for changes of what agents may do. The gateway asks\n" +
			"for it where there is no screen; where there is one, it asks in a window. A change needs the\n" +
			"old passphrase, or the window.",
	}, toolCommand{tool: "consent_passphrase", prepare: func(*toolCall) error {
		if r.output.terminal.Secret == nil {
			e := aai.Errorf(aai.PermissionDenied, "there is no terminal at which a passphrase could be typed")
			e.Hint = "Run this at a terminal."
			return e
		}
		r.showsOwnProgress = true // the command asks the person meanwhile
		return nil
	}})
}

func newConsentConfirm(r *run) *cobra.Command {
	return &cobra.Command{
		Use:   "confirm [setting]...",
		Short: "Confirm settings that let callers do more",
		Long: "Settings that let callers do more apply only after you have confirmed them once, with their\n" +
			"value and place. This lists the unconfirmed settings and asks you to authenticate.",
		Example: "  aai-gateway consent confirm\n  aai-gateway consent confirm net.allowPrivate",
		Args:    operands(0, -1),
		RunE:    func(cmd *cobra.Command, keys []string) error { return r.consentConfirm(cmd.Context(), keys) },
	}
}

// settingView is a setting that waits for confirmation.
type settingView struct {
	From  string `json:"from"`
	Key   string `json:"key"`
	Value any    `json:"value"`
}

func (r *run) consentConfirm(ctx context.Context, keys []string) error {
	waiting, err := r.callBuiltin(ctx, "consent_unconfirmed", nil)
	if err != nil {
		return err
	}
	settings, err := decodeView[[]settingView](waiting.Data)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if !slices.ContainsFunc(settings, func(s settingView) bool { return s.Key == key }) {
			return aai.Errorf(aai.InvalidParams, "the setting %s needs no confirmation", aai.CleanLabel(key, 60))
		}
	}
	if len(keys) > 0 {
		settings = slices.DeleteFunc(settings, func(s settingView) bool { return !slices.Contains(keys, s.Key) })
	}
	if len(settings) == 0 {
		return r.output.show(map[string]any{"confirmed": 0}, func() error {
			r.output.say("No setting needs confirmation.")
			return nil
		})
	}
	list := make([]any, len(settings))
	for i, s := range settings {
		value, err := json.Marshal(s.Value)
		if err != nil {
			return aai.Errorf(aai.Internal, "a setting cannot be shown: %w", err)
		}
		r.output.note(fmt.Sprintf("%s: %s %s", aai.CleanLabel(s.From, maxLine), s.Key, sanitize.EscapeInvisible(string(value))))
		list[i] = map[string]any{"from": s.From, "key": s.Key, "value": s.Value}
	}
	result, err := r.callBuiltin(ctx, "consent_confirm", map[string]any{"settings": list})
	if err != nil {
		return err
	}
	return r.showResult(result)
}
