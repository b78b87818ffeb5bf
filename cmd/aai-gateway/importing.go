package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/clients"
	"github.com/gybob/aai-gateway/internal/gui/risk"
	"github.com/gybob/aai-gateway/internal/importers"
	"github.com/gybob/aai-gateway/internal/lexicon"
	"github.com/gybob/aai-gateway/internal/netguard"
	"github.com/gybob/aai-gateway/internal/oauth"
	"github.com/gybob/aai-gateway/internal/secrets"
)

// imports returns the importer. It saves descriptors in the user's folder.
func (p *program) imports(cfg *setup, client *netguard.Client, drivers map[string]aai.Driver, vault *secrets.Vault, logins *oauth.Authorizer) *importers.Importer {
	current, _ := os.Getwd() // without one no project's servers are found
	return importers.New(importers.Config{
		Folder: filepath.Join(cfg.home, ".aai"), UndoFolder: filepath.Join(cfg.platform.data, "imports"), Platform: cfg.platform.name, Fetch: fetchLong(client), Driver: drivers["http"],
		CurrentFolder: current, Clients: &clientServers{open: func() (*clientInstaller, error) { return p.installer(cfg) }},
		IsDestructive: risk.NewDestructiveMarker(lexicon.DestructiveWords()).ContainsWord, Secrets: vault, Logins: logins,
	})
}

// clientServers are the MCP servers of agents' clients, found on demand.
type clientServers struct {
	open func() (*clientInstaller, error)
}

// Scopes implements importers.Clients.
func (c *clientServers) Scopes(client, project string) ([]clients.Scope, clients.Client, error) {
	in, err := c.open()
	if err != nil {
		return nil, clients.Client{}, err
	}
	return in.clients.ScopesOf(client, project)
}

// ReplaceServers implements importers.Clients.
func (c *clientServers) ReplaceServers(client string, names, args []string) (*clients.Plan, error) {
	in, err := c.open()
	if err != nil {
		return nil, err
	}
	plan, err := in.clients.ReplaceServers(client, names, args)
	if err != nil {
		return nil, err
	}
	plan.Notes = append(plan.Notes, in.notes...)
	return plan, nil
}

// Apply implements importers.Clients.
func (c *clientServers) Apply(ctx context.Context, plan *clients.Plan) error {
	in, err := c.open()
	if err != nil {
		return err
	}
	return in.clients.Apply(ctx, plan)
}
