package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
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
	}), shell: cfg.platform.shellExtension, own: []cli.Leftover{
		{Path: filepath.Join(cfg.platform.data, "clients", "backups"), Reason: "the former files of your agents' clients, with their keys, for install --rollback"},
		{Path: cfg.platform.data, Reason: "the journal, your consents and the vault with your secrets, for the next gateway"},
		{Path: filepath.Join(home, ".aai"), Reason: "your settings and the apps that you wrote, generated or imported"},
		{Path: cfg.platform.cache, Reason: "copies of web sites' descriptors"},
		{Path: filepath.Dir(cfg.platform.siteNamesFile), Reason: "names that you gave to web sites"},
		{Path: filepath.Dir(cfg.platform.refsFolder), Reason: "the elements that conversations refer to, until you log out"},
	}}, nil
}

// Leftovers implements cli.Clients.
func (i *clientInstaller) Leftovers() []cli.Leftover {
	var left []cli.Leftover
	for _, one := range i.own {
		if slices.ContainsFunc(left, func(l cli.Leftover) bool { return l.Path == one.Path }) || !hasContent(one.Path) {
			continue
		}
		left = append(left, one)
	}
	return left
}

// hasContent reports whether a folder of the gateway exists and is not empty.
func hasContent(path string) bool {
	entries, err := os.ReadDir(path)
	return filepath.IsAbs(path) && err == nil && len(entries) > 0
}

// Purge implements cli.Clients. It follows no link.
func (i *clientInstaller) Purge(l cli.Leftover) error {
	if !slices.Contains(i.own, l) {
		return errors.New("it is not the gateway's")
	}
	return os.RemoveAll(l.Path)
}

// clientInstaller adapts clients.Installer to the commands.
type clientInstaller struct {
	clients *clients.Installer
	notes   []string // about the program's path, reported once
	own     []cli.Leftover
	shell   func() (shellExtension, error) // may be nil
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
	if client == cli.ShellExtension {
		return i.planExtension(act)
	}
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
