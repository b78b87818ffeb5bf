package main

import (
	"context"
	"io"
	"log/slog"
	"path/filepath"
	"slices"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/automation/script"
	"github.com/gybob/aai-gateway/internal/automation/undo"
	"github.com/gybob/aai-gateway/internal/automation/workflow"
	"github.com/gybob/aai-gateway/internal/secrets"
)

// runScriptCommand makes this program a process that runs a script; nobody but the gateway starts
// it.
const runScriptCommand = "run-script"

// callTools are the tools that do nothing but make calls, of the desktop and of the gateway
// itself, and what they stand on.
type callTools struct {
	acts             *undo.Log
	desktop, builtin []*aai.Tool
	library          *workflow.Library // the workflows that the person keeps
	runStore         io.Closer         // what is kept of runs
	watch            func(context.Context)
}

// dataFolders are where the person's files are, and what the gateway keeps.
type dataFolders struct{ home, data string }

// newCallTools makes them, of a gateway that is made after its apps. Without a vault what is
// done at the terminal is not kept, nor how far workflows have come.
func newCallTools(gateway func() *aai.Gateway, vault *secrets.Vault, at dataFolders, log *slog.Logger) callTools {
	cfg, flows := undo.Config{Log: log}, workflow.Config{Gateway: gateway}
	var keeper *workflow.SQLiteStore
	var runs workflow.SQLiteConfig
	if vault != nil {
		unattended := vault.NonInteractive()
		runs = workflow.SQLiteConfig{Path: filepath.Join(at.data, "state.db"), Vault: unattended, Log: log}
		keeper = workflow.NewSQLiteStore(runs)
		cfg.Vault, flows.Store = unattended, keeper
	}
	acts, library := undo.NewLog(cfg), workflow.NewLibrary(filepath.Join(at.home, ".aai", "workflows"), flows)
	ownScript, desktopScript := script.Tools(script.Config{Gateway: gateway, Command: scriptChild})
	do := func(ctx context.Context, call *aai.Call) (*aai.Result, error) { return gateway().Do(ctx, call) }
	return callTools{
		acts:    acts,
		desktop: append(flows.DesktopTools(), acts.DesktopTool(do), desktopScript),
		builtin: slices.Concat(flows.BuiltinTools(), library.Tools(keeper), []*aai.Tool{acts.BuiltinTool(do), ownScript}),
		library: library, runStore: keeper,
		watch: func(ctx context.Context) {
			workflow.WarnInterrupted(ctx, runs, log)
			library.Watch(ctx)
		},
	}
}
