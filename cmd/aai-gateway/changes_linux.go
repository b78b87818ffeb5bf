package main

import (
	"context"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/linux/atspi"
	"github.com/gybob/aai-gateway/internal/platform/linux/session"
	"github.com/gybob/aai-gateway/internal/platform/linux/wayland"
)

// desktopChanges implements desktop.Changes by the accessibility bus, the screen and the session bus.
type desktopChanges struct {
	tree   *atspi.Bus
	screen *wayland.Session
	getenv func(string) string
}

// WatchWindows implements desktop.Changes.
func (c desktopChanges) WatchWindows(ctx context.Context, changed func()) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	failed := make(chan error, 2)
	go func() { failed <- c.tree.WatchApps(ctx, changed) }()
	go func() { failed <- c.screen.WatchWindows(ctx, changed) }()
	err := <-failed
	stop()
	<-failed
	return err
}

// WatchClipboard implements desktop.Changes.
func (c desktopChanges) WatchClipboard(ctx context.Context, changed func()) error {
	return c.screen.WatchClipboard(ctx, changed)
}

// WatchNotifications implements desktop.Changes.
func (c desktopChanges) WatchNotifications(ctx context.Context, shown func(desktop.Notification)) error {
	return session.WatchNotifications(ctx, c.getenv, shown)
}
