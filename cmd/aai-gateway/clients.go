package main

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/gybob/aai-gateway/internal/clients"
	"github.com/gybob/aai-gateway/internal/doors/cli"
)

// clients returns the agents' programs of this computer, and their configurations.
func (p *program) clients(f cli.Flags) (cli.Clients, error) {
	cfg, err := p.config(f)
	if err != nil {
		return nil, err
	}
	return p.installer(cfg)
}

// installer returns the installer for agents' clients.
func (p *program) installer(cfg *setup) (*clientInstaller, error) {
	home, err := p.homeFolder()
	if err != nil {
		return nil, err
	}
	executable, _ := os.Executable() // an empty one is rejected
	cache, _ := os.UserCacheDir()
	launch, notes, err := clients.StableCommand(clients.LaunchInfo{
		Arg0: os.Args[0], Executable: executable, Path: p.getenv("PATH"), System: runtime.GOOS,
		TemporaryFolders: []string{os.TempDir(), "/tmp", "/var/tmp", filepath.Join(cache, "go-build")},
	})
	if err != nil {
		return nil, invalid("%w", err)
	}
	return &clientInstaller{notes: notes, clients: clients.New(clients.Config{
		Home: home, Getenv: p.getenv, System: runtime.GOOS, Folder: filepath.Join(cfg.platform.data, "clients"),
		LaunchCommand: launch, Now: time.Now,
	})}, nil
}

// clientInstaller adapts clients.Installer to the commands.
type clientInstaller struct {
	clients *clients.Installer
	notes   []string // about the program's path, reported once
}

// List implements cli.Clients.
func (i *clientInstaller) List() []cli.Client {
	var all []cli.Client
	for _, c := range i.clients.Clients() {
		all = append(all, cli.Client{ID: c.ID, Name: c.Name, File: c.File, Installed: c.IsPresent})
	}
	return all
}

// LastChanged implements cli.Clients.
func (i *clientInstaller) LastChanged() string { return i.clients.LastClient() }

// Plan implements cli.Clients.
func (i *clientInstaller) Plan(act, client, profile string) (*cli.ClientPlan, error) {
	var plan *clients.Plan
	var err error
	switch act {
	case cli.ClientUninstall:
		plan, err = i.clients.Uninstall(client)
	case cli.ClientRollback:
		plan, err = i.clients.Rollback(client)
	default:
		args := []string{"mcp", "serve"}
		if profile != "" {
			args = append(args, "--profile", profile)
		}
		if plan, err = i.clients.Install(client, args); err == nil {
			plan.Notes, i.notes = append(plan.Notes, i.notes...), nil
		}
	}
	if err != nil {
		return nil, err
	}
	return &cli.ClientPlan{
		ID: plan.Client.ID, Name: plan.Client.Name, File: plan.Client.File, Change: plan.Action, Diff: plan.Diff, Link: plan.Link,
		Notes: plan.Notes, After: plan.NextStep, NeedsConfirmation: plan.NeedsConfirmation(),
		Apply: func(ctx context.Context) error { return i.clients.Apply(ctx, plan) },
		Probe: func(ctx context.Context) (cli.ProbeResult, error) {
			seen, err := i.clients.Probe(ctx, plan)
			return cli.ProbeResult{
				Command: seen.Command, Server: seen.Name, Version: seen.Version, Protocol: seen.Protocol,
				Tools: len(seen.Tools), Took: seen.Took,
			}, err
		},
	}, nil
}
