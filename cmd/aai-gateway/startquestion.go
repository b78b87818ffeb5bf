package main

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/builtin"
	"github.com/gybob/aai-gateway/internal/config"
	"github.com/gybob/aai-gateway/internal/policy/reauth"
)

// askAboutDev asks the person to confirm --dev in a client's configuration, in a window, if that is possible here and
// the person was not asked lately. It waits for ready, since clients also start servers that they do not use. The answer
// yes holds from the next start by that client.
func (s *setup) askAboutDev(ctx context.Context, built *components, ready <-chan struct{}) {
	select {
	case <-ready:
	case <-ctx.Done():
		return
	}
	for _, setting := range s.Unconfirmed {
		client, ok := config.DevClient(setting.From)
		if !ok {
			continue
		}
		_, passphrase := s.kept()
		if s.reauthPerson(built.dialog, passphrase).Method(ctx) != aai.DesktopDialog || s.confirmed().CheckAvailable(ctx) != nil {
			return
		}
		may, err := reauth.NewAskLog(filepath.Join(s.platform.data, "asked.json")).Begin(ctx, setting)
		if err != nil {
			built.log.Warn("the person is not asked about --dev", "cause", err)
		}
		if !may {
			return
		}
		_, err = built.gateway.Do(ctx, &aai.Call{
			App: aai.BuiltinApp, Tool: builtin.ConfirmSettings, Caller: aai.Caller{Door: aai.DoorCLI, Name: client, Identity: client},
			Args: map[string]any{"settings": []any{map[string]any{"from": setting.From, "key": setting.Key, "value": setting.Value, "about": aboutDev}}},
		})
		switch {
		case err == nil:
			built.log.Warn("--dev is confirmed and holds from the next start")
		case aai.AsError(err).Code == aai.InvalidParams: // the question is too long to be shown
			built.log.Warn("the person could not be asked about --dev", "cause", err)
		}
		return
	}
}

// aboutDev says in the question which rights dev gives.
const aboutDev = "for developers of apps: reads aai.json in build folders too, and allows web apps of this computer over http"

// devClient returns the identity of the client if a yes to --dev can be kept for it. A script can give itself the
// command line of another one, so only a program of its own counts.
func devClient(identity string) string {
	if strings.Contains(identity, " ") {
		return ""
	}
	return identity
}
