//go:build !linux

package main

import (
	"context"

	"github.com/gybob/aai-gateway/internal/doors/cli"
	"github.com/gybob/aai-gateway/internal/doors/mcp"
)

// sessions returns nil: only Linux has isolated sessions.
func (*program) sessions() func(context.Context, cli.SessionOptions, []string) error { return nil }

// inSession is not called without the flags of [program.sessions].
func (*program) inSession(ctx context.Context, _ cli.SessionOptions, serve func(context.Context) error) error {
	return serve(ctx)
}

func runSessionGuard(string, []string) int { return 2 }

func holdViews(string) int { return 2 }

// serveConversations is not called without the flags of [program.sessions].
func (*program) serveConversations(context.Context, cli.Flags, cli.ServeOptions) error { return nil }

func (*program) serveConversation(context.Context, *mcp.Door, *setup) error { return nil }
