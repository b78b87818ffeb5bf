package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/platform/linux/dialog"
	"github.com/gybob/aai-gateway/internal/policy"
	"github.com/gybob/aai-gateway/internal/secrets/named"
)

// secrets returns the person's secrets that agents use by name. Their values are added to s.secretValues.
func (s *setup) secrets(windows *dialog.Dialog, log *slog.Logger) *named.Store {
	seals := listSeals{vault: s.policyVault, id: "secrets that agents use by name"}
	ask := valueAsker{windows, s.promptScreen.language}.value
	if s.hostAccess.value != nil {
		ask = s.hostAccess.value
	}
	return named.New(named.Config{
		File: filepath.Join(s.platform.data, "secrets.sealed"), FilledFile: filepath.Join(s.platform.refsFolder, "filled.sealed"), Seal: seals.seal, Open: seals.open, AskValue: ask, Values: &s.secretValues, Log: log,
		Environ: func() []string { return withoutSecrets(s.personSession.Environ(os.Environ())) },
	})
}

// valueAsker asks the person for values: in a window if that is how they confirmed the call, else at the terminal.
type valueAsker struct {
	windows  *dialog.Dialog
	language func() string
}

// value implements named.Config.AskValue.
func (v valueAsker) value(ctx context.Context, call *aai.Call, request named.ValueRequest) (string, error) {
	what, prompt := "Type the value of the secret that you have just confirmed. Agents do not see it.", "Value: "
	if request.IsCode {
		what = "Type the seed of one-time codes that you have just confirmed: in base32, or as an otpauth:// address. Agents do not see it."
	}
	if v.language() == "zh" {
		what, prompt = "请输入您刚刚确认的机密的内容。智能体看不到它。", "内容："
		if request.IsCode {
			what = "请输入您刚刚确认的一次性验证码密钥（base32 或 otpauth:// 地址）。智能体看不到它。"
		}
	}
	if policy.ReauthChannel(call) == aai.DesktopDialog {
		text := what + "\n" + aai.QuoteMark + "{{secret:" + request.Name + "}}\n" + aai.QuoteMark + request.For
		if request.Field != "" {
			text += "\n" + aai.QuoteMark + request.Field
		}
		return v.windows.AskHidden(ctx, call.Caller.Identity, dialog.HiddenInput{Text: text, Prompt: prompt})
	}
	ask := aai.ClientCapabilitiesOf(ctx).AskSecret
	if ask == nil {
		e := aai.Errorf(aai.PermissionDenied, "there is neither a window nor a terminal at which the value could be typed")
		e.Hint = "Run it at a terminal: aai-gateway secret set"
		return "", e
	}
	return ask(ctx, what+"\n"+prompt)
}
