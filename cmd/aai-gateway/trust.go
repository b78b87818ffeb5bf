package main

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"

	"aai"
	"aai/internal/config"
	"aai/internal/dialog"
	"aai/internal/generate"
	"aai/internal/own"
	"aai/internal/policy"
	"aai/internal/proof"
	"aai/internal/script"
	"aai/internal/search"
	"aai/internal/seat"
	"aai/internal/workflow"
	"aai/internal/workflow/kept"
)

// trust is what stands between a call and its Action.
type trust struct {
	limits      *policy.Limits
	gates       []aai.Gate // in the order in which they are asked
	dialog      *dialog.Dialog
	modes       *policy.Modes
	revocations *policy.Revocations
	notice      func(context.Context) string // of how people are asked; nil: there is nothing to say
}

// trust makes the gates as configured. What a person decides holds for every
// gateway of theirs, so it is in files that all of them read.
func (s *setup) trust(store policy.Store, passphrase *proof.Passphrase, log *slog.Logger) trust {
	t := trust{
		limits:      policy.NewLimits(s.Policy.Limits),
		dialog:      s.newDialog(log),
		modes:       &policy.Modes{Configured: s.Policy.Mode, Path: filepath.Join(s.platform.data, "mode")},
		revocations: policy.NewRevocations(filepath.Join(s.platform.data, "revoked")),
	}
	var words []string
	if s.Policy.Confirm {
		words = s.Policy.Words
	}
	asked := func(r *aai.Request) bool {
		return r.Call.Caller.Door == aai.DoorMCP && (own.LooksHere(r) || generate.LooksHere(r))
	}
	who := s.person(t.dialog, passphrase)
	if p, ok := who.(prover); ok {
		t.notice = p.notice
	}
	t.gates = []aai.Gate{
		t.limits, // first: a call that is refused counts too
		policy.NewOwn(policy.OwnConfig{
			Open: openTools(), Personal: []string{aai.DoorCLI, aai.DoorWeb}, First: own.SetPassphrase, Asked: asked,
			Narrows: s.settings().Narrows(own.Narrows(store, t.modes)), Person: who, Language: s.asks.language,
			Hidden: func(ctx context.Context) error {
				if why := passphrase.Possible(ctx); why != nil {
					return why
				}
				return s.hidden(ctx)
			},
		}),
		s.lists(),
		policy.Untouchable{Shows: t.dialog.Shows, Asking: t.dialog.Open},
		policy.Shells{}, // before the modes, which have a word on it
		t.modes,
		policy.NewDestructive(words),
		policy.NewConsent(policy.ConsentConfig{
			Store: store, Preapproved: s.Preapproved, Asked: asked, Elicitation: s.Policy.Elicitation,
			Revocations: t.revocations, Mode: t.modes, Person: who, WindowsFail: t.dialog.Fails, Language: s.asks.language,
		}),
	}
	return t
}

// openTools are those of the gateway's own app that agents may use.
func openTools() []string {
	return slices.Concat(own.OpenTools(), workflow.OpenTools(), kept.OpenTools(), script.OpenTools(), search.OpenTools(), generate.OpenTools())
}

// askedTools are those of them that a person is asked about first.
func askedTools() []string { return []string{own.Discover, generate.Show} }

// lists are the apps that may be touched at all.
func (s *setup) lists() policy.Lists {
	return policy.Lists{Allowed: s.Policy.Allowed, Denied: s.Policy.Denied}
}

// person is who may prove that it is they.
func (s *setup) person(windows *dialog.Dialog, passphrase *proof.Passphrase) policy.Person {
	if s.grounds.person != nil {
		who, _ := s.grounds.person()
		return who
	}
	if s.Policy.Dialog != config.DialogAuto {
		windows = nil
	}
	return prover{windows, s.asks, passphrase}
}

// newDialog makes what asks in a window, on the person's own screen.
func (s *setup) newDialog(log *slog.Logger) *dialog.Dialog {
	return s.dialogOn(s.asks.Getenv, s.platform.data, log)
}

// doctorDialog makes what asks on another screen, in the person's language.
func (s *setup) doctorDialog(getenv func(string) string, folder string) aai.ReadyAsker {
	return s.dialogOn(func(name string) string {
		if name == "LANG" || name == "LANGUAGE" || strings.HasPrefix(name, "LC_") {
			return s.asks.Getenv(name)
		}
		return getenv(name)
	}, folder, slog.New(slog.DiscardHandler))
}

// dialogOn returns the dialog of the screen that the variables name.
func (s *setup) dialogOn(getenv func(string) string, folder string, log *slog.Logger) *dialog.Dialog {
	shared := seat.New(seat.Config{Folder: seat.Folder, Getenv: getenv})
	cfg := dialog.Config{
		Getenv: getenv, Folder: folder, Language: s.asks.language,
		Seat: shared, Log: log,
	}
	if s.platform.seen != nil {
		cfg.Focus, cfg.Shown = s.platform.seen(getenv, shared)
	}
	return dialog.New(cfg)
}

// seat is the person's pointer, keyboard and focus, as all their gateways share it.
func (s *setup) seat() *seat.Seat {
	return seat.New(seat.Config{Folder: seat.Folder, Getenv: s.session.Getenv})
}

// languageNames are the variables that say in which language people read, the weightiest
// first.
func languageNames() []string { return []string{"LC_ALL", "LC_MESSAGES", "LANG"} }

// languageOf is the language of the person, "zh" or "", by the first of the
// variables that is set, as POSIX has it (Base Definitions, 8.2).
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
