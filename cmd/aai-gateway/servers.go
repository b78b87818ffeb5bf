package main

import (
	"log/slog"
	"net/http"
	"path/filepath"

	"aai/internal/drivers/mcp"
	"aai/internal/keychain"
	"aai/internal/login"
)

// servers run the MCP servers that descriptors name.
func (s *setup) servers(client *http.Client, logins *login.Logins, vault *keychain.Vault, log *slog.Logger) *mcp.Driver {
	return mcp.New(mcp.Config{
		Folder: filepath.Join(s.platform.data, "mcp"), Home: s.home, Getenv: s.session.Getenv, Secrets: vault.Unattended(),
		Client: client, Login: logins, Version: ownVersion(), Timeout: s.DefaultTimeout, Log: log,
	})
}
