package main

import (
	"context"
	"net/http"
	"path/filepath"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/drivers/mcp"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// servers returns the driver of the MCP servers that descriptors name.
func (s *setup) servers(client *http.Client, on appDependencies) *mcp.Driver {
	return mcp.New(mcp.Config{
		Folder: filepath.Join(s.platform.data, "mcp"), Home: s.home, Getenv: s.personSession.Getenv, Secrets: on.vault.NonInteractive(),
		Client: client, Authorizer: on.logins, Version: programVersion(), ToolTimeout: s.DefaultTimeout, Log: on.log, Events: on.recorders,
		GuardCommand: serverGuard(), Asker: dialogAsker{on.gateway},
	})
}

// dialogAsker puts servers' questions into the gateway's queue.
type dialogAsker struct{ gateway func() *gateway.Gateway }

// Ask implements aai.Asker.
func (w dialogAsker) Ask(ctx context.Context, q aai.Question) (aai.Answer, error) {
	return w.gateway().Ask(ctx, q)
}
