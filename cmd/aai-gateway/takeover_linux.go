package main

import (
	"context"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/platform/linux/private"
	"github.com/gybob/aai-gateway/internal/platform/linux/session"
	"github.com/gybob/aai-gateway/internal/platform/linux/takeover"
)

// newRelay returns the tools with which the person watches isolated sessions and works in them.
func newRelay() *takeover.Relay { return takeover.New() }

// watchSession is takeover.Watch.
func watchSession(ctx context.Context, id string, show func(png []byte) error) error {
	return takeover.Watch(ctx, id, show)
}

// narrowsSession reports whether a request only pauses an agent, or comes from the page, which only the person opens.
func narrowsSession(r *aai.Request) bool {
	switch r.Tool.Name {
	case takeover.TakeTool:
		return true
	case takeover.GiveTool, takeover.InputTool:
		return r.Call.Caller.Door == aai.DoorWeb
	}
	return false
}

// pauseReason returns why actions of the gateway of an isolated session pause: the person works in that session, or
// otherwise's reason.
func pauseReason(getenv func(string) string, otherwise func(context.Context) string) func(context.Context) string {
	return func(ctx context.Context) string {
		if private.IsTaken(getenv(session.PrivateMark)) {
			return inputlock.TakenReason
		}
		return otherwise(ctx)
	}
}

// pauseWhileTaken implements gateway.PauseFunc in the gateway of an isolated session that the person has taken over. Calls
// to the web go on. Input that has begun waits by the input lock.
func (s *setup) pauseWhileTaken(ctx context.Context, r *aai.Request) (waited bool, err error) {
	folder := s.session.Getenv(session.PrivateMark)
	if r.App.ID == aai.BuiltinApp || r.App.Site.BaseURL != "" || !private.IsTaken(folder) {
		return false, nil
	}
	return true, inputlock.CheckPaused(ctx, pauseReason(s.session.Getenv, func(context.Context) string { return "" }))
}
