package main

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/automation/script"
	"github.com/gybob/aai-gateway/internal/automation/undo"
	"github.com/gybob/aai-gateway/internal/automation/workflow"
	"github.com/gybob/aai-gateway/internal/builtin"
	"github.com/gybob/aai-gateway/internal/catalog/search"
	"github.com/gybob/aai-gateway/internal/config"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/drivers/cdp"
	"github.com/gybob/aai-gateway/internal/gui/recording"
	"github.com/gybob/aai-gateway/internal/gui/risk"
	"github.com/gybob/aai-gateway/internal/importers/introspect"
	"github.com/gybob/aai-gateway/internal/platform/linux/dialog"
	"github.com/gybob/aai-gateway/internal/policy"
	"github.com/gybob/aai-gateway/internal/policy/reauth"
	"github.com/gybob/aai-gateway/internal/secrets/named"
)

// gateSet holds the gates between a call and its Action.
type gateSet struct {
	limits      *policy.Limits
	gates       []aai.Gate // in the order of checking
	dialog      *dialog.Dialog
	modes       *policy.ModeGate
	revocations *policy.Revocations
	notice      func(context.Context) string // explains why the user is not asked in a window; nil: no notice
}

// gates creates the configured gates. The user's decisions apply to all of their gateways, so they
// are in shared files.
func (s *setup) gates(store policy.Store, passphrase *reauth.Passphrase, log *slog.Logger) gateSet {
	t := gateSet{
		limits:      policy.NewLimits(s.Policy.Limits),
		dialog:      s.newDialog(log),
		modes:       &policy.ModeGate{Configured: s.Policy.Mode, Path: filepath.Join(s.platform.data, "mode")},
		revocations: policy.NewRevocations(filepath.Join(s.platform.data, "revoked")),
	}
	var words []string
	if s.Policy.ConfirmDestructive {
		words = s.Policy.DestructiveWords
	}
	asked := func(r *aai.Request) bool {
		return r.Call.Caller.Door == aai.DoorMCP && (builtin.IsLocalDiscovery(r) || introspect.IntrospectsLocally(r))
	}
	who := s.reauthPerson(t.dialog, passphrase)
	if p, ok := who.(reauthenticator); ok {
		t.notice = p.notice
	}
	t.gates = []aai.Gate{
		t.limits, // first: a refused call counts too
		policy.NewBuiltinGate(policy.BuiltinConfig{
			AgentTools: agentTools(), PersonDoors: []string{aai.DoorCLI, aai.DoorWeb}, PassphraseTool: builtin.SetPassphrase, NeedsConsent: asked,
			IsNarrowing: s.settings().NarrowingCheck(narrows(builtin.NarrowingCheck(store, t.modes))), Authenticator: who, Language: s.promptScreen.language,
			FirstReauthBlocked: func(ctx context.Context) error {
				if why := passphrase.CheckAvailable(ctx); why != nil {
					return why
				}
				return s.hiddenScreenError(ctx)
			},
		}),
		s.appLists(),
		risk.ProtectedWindows{ShowsDialog: t.dialog.IsShowing, IsDialogOpen: t.dialog.IsOpen},
		risk.ShellMarker{}, // before the modes, which can override it
		t.modes,
		risk.NewDestructiveMarker(words),
		policy.NewConsent(policy.ConsentConfig{
			Store: store, Preapproved: s.Preapproved, BuiltinNeedsConsent: asked, Elicitation: s.Policy.ElicitationClients,
			Revocations: t.revocations, ModeGate: t.modes, Authenticator: who, DialogUnavailable: t.dialog.IsFailing, Language: s.promptScreen.language,
		}),
	}
	return t
}

// agentTools lists the builtin tools that agents may use.
func agentTools() []string {
	return slices.Concat(builtin.AgentTools(), workflow.AgentTools(), workflow.AgentLibraryTools(), script.AgentTools(), undo.AgentTools(), search.AgentToolNames(), cdp.AgentTools(), named.AgentTools(), recording.AgentTools(), introspect.AgentToolNames())
}

// consentTools lists those of agentTools that need consent.
func consentTools() []string { return []string{builtin.Discover, introspect.GenerateTool} }

// appLists returns the allowed and the denied apps.
func (s *setup) appLists() policy.AppLists {
	return policy.AppLists{Allowed: s.Policy.AllowedApps, Denied: s.Policy.DeniedApps}
}

// reauthPerson returns the authenticator of the user.
func (s *setup) reauthPerson(windows *dialog.Dialog, passphrase *reauth.Passphrase) policy.Authenticator {
	if s.hostAccess.person != nil {
		who, _ := s.hostAccess.person()
		return who
	}
	if s.Policy.Dialog != config.DialogAuto {
		windows = nil
	}
	return reauthenticator{windows, s.promptScreen, passphrase}
}

// newDialog creates the dialog on the user's screen.
func (s *setup) newDialog(log *slog.Logger) *dialog.Dialog {
	return s.dialogOn(s.promptScreen.Getenv, s.platform.data, log)
}

// doctorDialog creates a dialog on another screen, in the user's language.
func (s *setup) doctorDialog(getenv func(string) string, folder string) aai.ReadyAsker {
	return s.dialogOn(func(name string) string {
		if name == "LANG" || name == "LANGUAGE" || strings.HasPrefix(name, "LC_") {
			return s.promptScreen.Getenv(name)
		}
		return getenv(name)
	}, folder, slog.New(slog.DiscardHandler))
}

// dialogOn returns the dialog on the screen that the variables name.
func (s *setup) dialogOn(getenv func(string) string, folder string, log *slog.Logger) *dialog.Dialog {
	shared := inputlock.New(inputlock.Config{Folder: inputlock.Folder, Getenv: getenv})
	cfg := dialog.Config{
		Getenv: getenv, Folder: folder, Language: s.promptScreen.language,
		InputLock: shared, Log: log,
	}
	if s.platform.watchWindows != nil {
		s.platform.watchWindows(&cfg)
	}
	return dialog.New(cfg)
}

// inputLock returns the input lock, which all gateways of the user share.
func (s *setup) inputLock() *inputlock.Lock {
	return inputlock.New(inputlock.Config{Folder: inputlock.Folder, Getenv: s.session.Getenv})
}

// languageNames lists the variables for the language, the most significant first.
func languageNames() []string { return []string{"LC_ALL", "LC_MESSAGES", "LANG"} }

// languageOf returns the user's language, "zh" or "", from the first variable that is set, as
// POSIX defines (Base Definitions, 8.2).
func languageOf(getenv func(string) string) string {
	for _, name := range languageNames() {
		if value := getenv(name); value != "" {
			if strings.HasPrefix(strings.ToLower(value), "zh") {
				return "zh"
			}
			return ""
		}
	}
	return ""
}
