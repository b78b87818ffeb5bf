package main

import (
	"context"
	"net/http"
	"path/filepath"

	"aai"
	"aai/internal/drivers/mcp"
)

// servers run the MCP servers that descriptors name.
func (s *setup) servers(client *http.Client, on grounding) *mcp.Driver {
	return mcp.New(mcp.Config{
		Folder: filepath.Join(s.platform.data, "mcp"), Home: s.home, Getenv: s.session.Getenv, Secrets: on.vault.Unattended(),
		Client: client, Login: on.logins, Version: ownVersion(), Timeout: s.DefaultTimeout, Log: on.log,
		Guard: serverGuard(), Asker: windows{on.gateway},
	})
}

// windows are where servers' questions go, in turn with those of the gateway.
type windows struct{ gateway func() *aai.Gateway }

// Ask implements aai.Asker.
func (w windows) Ask(ctx context.Context, q aai.Question) (aai.Answer, error) {
	return w.gateway().Ask(ctx, q)
}
