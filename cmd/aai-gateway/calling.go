package main

import (
	"context"
	"io"
	"log/slog"
	"path/filepath"
	"slices"

	"aai"
	"aai/internal/keychain"
	"aai/internal/script"
	"aai/internal/undo"
	"aai/internal/workflow"
	"aai/internal/workflow/kept"
	"aai/internal/workflow/state"
)

// runsScript makes this program a process that runs a script; nobody but the gateway starts
// it.
const runsScript = "run-script"

// calling are the tools that do nothing but make calls, of the desktop and of the gateway
// itself, and what they stand on.
type calling struct {
	acts         *undo.Log
	desktop, own []*aai.Tool
	library      *kept.Library // the workflows that the person keeps
	runs         io.Closer     // what is kept of runs
	watch        func(context.Context)
}

// callingPlaces are where the person's files are, and what the gateway keeps.
type callingPlaces struct{ home, data string }

// newCalling makes them, of a gateway that is made after its apps. Without a vault what is
// done at the terminal is not kept, nor how far workflows have come.
func newCalling(gateway func() *aai.Gateway, vault *keychain.Vault, at callingPlaces, log *slog.Logger) calling {
	cfg, flows := undo.Config{Log: log}, workflow.Config{Gateway: gateway}
	var keeper *state.Keeper
	var runs state.Config
	if vault != nil {
		unattended := vault.Unattended()
		runs = state.Config{Path: filepath.Join(at.data, "state.db"), Vault: unattended, Log: log}
		keeper = state.New(runs)
		cfg.Vault, flows.Store = unattended, keeper
	}
	acts, library := undo.NewLog(cfg), kept.NewLibrary(filepath.Join(at.home, ".aai", "workflows"), flows)
	ownScript, desktopScript := script.Tools(script.Config{Gateway: gateway, Command: scriptChild})
	do := func(ctx context.Context, call *aai.Call) (*aai.Result, error) { return gateway().Do(ctx, call) }
	return calling{
		acts:    acts,
		desktop: append(flows.Desktop(), acts.Windows(do), desktopScript),
		own:     slices.Concat(flows.Own(), library.Tools(keeper), []*aai.Tool{acts.Own(do), ownScript}),
		library: library, runs: keeper,
		watch: func(ctx context.Context) {
			kept.WarnOfLeft(ctx, runs, log)
			library.Watch(ctx)
		},
	}
}
