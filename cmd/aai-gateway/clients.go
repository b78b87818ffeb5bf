package main

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"aai/internal/doors/cli"
	"aai/internal/install"
)

// clients are the agents' programs of this computer, and their configurations.
func (p *program) clients(f cli.Flags) (cli.Clients, error) {
	cfg, err := p.config(f)
	if err != nil {
		return nil, err
	}
	return p.installer(cfg)
}

// installer is the room of agents' clients, for a configuration.
func (p *program) installer(cfg *setup) (*installer, error) {
	home, err := p.homeFolder()
	if err != nil {
		return nil, err
	}
	executable, _ := os.Executable() // an empty one is refused
	cache, _ := os.UserCacheDir()
	launch, notes, err := install.StableCommand(install.Start{
		Arg0: os.Args[0], Executable: executable, Path: p.getenv("PATH"), System: runtime.GOOS,
		Passing: []string{os.TempDir(), "/tmp", "/var/tmp", filepath.Join(cache, "go-build")},
	})
	if err != nil {
		return nil, invalid("%w", err)
	}
	return &installer{notes: notes, room: install.New(install.Config{
		Home: home, Getenv: p.getenv, System: runtime.GOOS, Folder: filepath.Join(cfg.platform.data, "clients"),
		Launch: launch, Now: time.Now,
	})}, nil
}

// An installer is the room as the commands know it.
type installer struct {
	room  *install.Room
	notes []string // of the program's own path, to be said once
}

// List implements cli.Clients.
func (i *installer) List() []cli.Client {
	var all []cli.Client
	for _, c := range i.room.Clients() {
		all = append(all, cli.Client{ID: c.ID, Name: c.Name, File: c.File, Here: c.Here})
	}
	return all
}

// Last implements cli.Clients.
func (i *installer) Last() string { return i.room.Last() }

// Plan implements cli.Clients.
func (i *installer) Plan(act, client, profile string) (*cli.ClientPlan, error) {
	var plan *install.Plan
	var err error
	switch act {
	case cli.ClientUninstall:
		plan, err = i.room.Uninstall(client)
	case cli.ClientRollback:
		plan, err = i.room.Rollback(client)
	default:
		args := []string{"mcp", "serve"}
		if profile != "" {
			args = append(args, "--profile", profile)
		}
		if plan, err = i.room.Install(client, args); err == nil {
			plan.Notes, i.notes = append(plan.Notes, i.notes...), nil
		}
	}
	if err != nil {
		return nil, err
	}
	return &cli.ClientPlan{
		ID: plan.Client.ID, Name: plan.Client.Name, File: plan.Client.File, Does: plan.Does, Diff: plan.Diff,
		Notes: plan.Notes, After: plan.After, Doubtful: plan.Doubtful(),
		Do: func(ctx context.Context) error { return i.room.Do(ctx, plan) },
		Try: func(ctx context.Context) (cli.ClientSeen, error) {
			seen, err := i.room.Try(ctx, plan)
			return cli.ClientSeen{
				Command: seen.Command, Server: seen.Name, Version: seen.Version, Protocol: seen.Protocol,
				Tools: len(seen.Tools), Took: seen.Took,
			}, err
		},
	}, nil
}
