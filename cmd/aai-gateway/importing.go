package main

import (
	"context"
	"path/filepath"

	"aai"
	"aai/internal/egress"
	"aai/internal/imports"
	"aai/internal/install"
	"aai/internal/keychain"
	"aai/internal/login"
	"aai/internal/policy"
)

// imports takes over what a person has already. It is saved where people keep their
// descriptors.
func (p *program) imports(cfg *setup, client *egress.Client, drivers map[string]aai.Driver, vault *keychain.Vault, logins *login.Logins) *imports.Room {
	return imports.New(imports.Config{
		Folder: filepath.Join(cfg.home, ".aai"), Kept: filepath.Join(cfg.platform.data, "imports"), Platform: cfg.platform.name, Fetch: fetchLong(client), Driver: drivers["http"],
		Clients: &clientServers{open: func() (*installer, error) { return p.installer(cfg) }},
		Loss:    policy.NewDestructive(policy.DestructiveWords()).Speaks, Secrets: vault, Logins: logins,
	})
}

// clientServers are the servers of agents' clients, which are looked for when somebody asks.
type clientServers struct{ open func() (*installer, error) }

// Servers implements imports.Clients.
func (c *clientServers) Servers(client string) (map[string]map[string]any, install.Client, error) {
	in, err := c.open()
	if err != nil {
		return nil, install.Client{}, err
	}
	return in.room.ServersOf(client)
}

// Take implements imports.Clients.
func (c *clientServers) Take(client string, names, args []string) (*install.Plan, error) {
	in, err := c.open()
	if err != nil {
		return nil, err
	}
	plan, err := in.room.Take(client, names, args)
	if err != nil {
		return nil, err
	}
	plan.Notes = append(plan.Notes, in.notes...)
	return plan, nil
}

// Do implements imports.Clients.
func (c *clientServers) Do(ctx context.Context, plan *install.Plan) error {
	in, err := c.open()
	if err != nil {
		return err
	}
	return in.room.Do(ctx, plan)
}
