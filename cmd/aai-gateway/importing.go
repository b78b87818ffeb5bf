package main

import (
	"path/filepath"

	"aai"
	"aai/internal/egress"
	"aai/internal/imports"
	"aai/internal/keychain"
	"aai/internal/login"
	"aai/internal/policy"
)

// imports takes over what a person has already. It is saved where people keep their
// descriptors.
func (p *program) imports(cfg *setup, client *egress.Client, drivers map[string]aai.Driver, vault *keychain.Vault, logins *login.Logins) *imports.Room {
	return imports.New(imports.Config{
		Folder: filepath.Join(cfg.home, ".aai"), Platform: cfg.platform.name, Fetch: fetchLong(client), Driver: drivers["http"],
		Loss: policy.NewDestructive(policy.DestructiveWords()).Speaks, Secrets: vault, Logins: logins,
	})
}
