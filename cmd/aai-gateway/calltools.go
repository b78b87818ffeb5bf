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
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/gui/recording"
	"github.com/gybob/aai-gateway/internal/secrets"
)

// runScriptCommand is the argument that makes this program a script process. Only the gateway
// starts it.
const runScriptCommand = "run-script"

// callTools are the tools that only make calls, of the desktop and builtin, and their
// dependencies.
type callTools struct {
	acts             *undo.Log
	desktop, builtin []*aai.Tool
	library          *workflow.Library // the user's stored workflows
	runStore         io.Closer         // stored runs
	recordings       *recording.Manager
	watch            func(context.Context)
}

// dataFolders are the user's home folder and the gateway's data folder, and the maximum size of the
// workflows' database in that.
type dataFolders struct {
	home, data  string
	maxRunBytes int64
}

// runsFile returns the path of the workflows' database.
func (at dataFolders) runsFile() string { return filepath.Join(at.data, "state.db") }

// newCallTools creates the tools. gateway returns the gateway, which is created after its apps.
// system runs scripts in the system's languages; nil: it has none. Without a vault, acts at the terminal and the progress of workflows are not stored.
func newCallTools(gateway func() *gateway.Gateway, vault *secrets.Vault, at dataFolders, system script.SystemRunner, log *slog.Logger) callTools {
	cfg, flows := undo.Config{Log: log}, workflow.Config{Gateway: gateway}
	recordings := &recording.Manager{Folder: filepath.Join(at.data, "recordings")}
	flows.Recordings, flows.IsRecording = recordings.Folder, recordings.IsRunning
	var keeper *workflow.SQLiteStore
	var runs workflow.SQLiteConfig
	if vault != nil {
		unattended := vault.NonInteractive()
		runs = workflow.SQLiteConfig{Path: at.runsFile(), MaxBytes: at.maxRunBytes, Vault: unattended, Log: log}
		keeper = workflow.NewSQLiteStore(runs)
		cfg.Vault, flows.Store = unattended, keeper
	}
	acts, library := undo.NewLog(cfg), workflow.NewLibrary(filepath.Join(at.home, ".aai", "workflows"), flows)
	ownScript, desktopScript := script.Tools(script.Config{Gateway: gateway, Command: scriptChild, HasSystemTool: system != nil})
	do := func(ctx context.Context, call *aai.Call) (*aai.Result, error) { return gateway().Do(ctx, call) }
	desktop := append(flows.DesktopTools(), acts.DesktopTool(do), desktopScript)
	if system != nil {
		desktop = append(desktop, script.SystemTool(system))
	}
	return callTools{
		acts:    acts,
		desktop: desktop,
		builtin: slices.Concat(flows.BuiltinTools(), library.Tools(keeper), []*aai.Tool{acts.BuiltinTool(do), ownScript}, recordings.Tools()),
		library: library, runStore: keeper, recordings: recordings,
		watch: func(ctx context.Context) {
			workflow.WarnInterrupted(ctx, runs, log)
			library.Watch(ctx)
		},
	}
}
