package main

import (
	"io"
	"log/slog"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/cdp"
	"github.com/gybob/aai-gateway/internal/platform/darwin/ax"
	"github.com/gybob/aai-gateway/internal/platform/darwin/native"
	"github.com/gybob/aai-gateway/internal/platform/darwin/quartz"
)

// macDesktop returns the backend of the desktop, and a closer for it. Without the system's functions only pages of browsers remain.
func macDesktop(cfg *setup, log *slog.Logger) (func() desktop.Backend, io.Closer) {
	var parts desktop.Backend
	var closer io.Closer = io.NopCloser(nil)
	if api, err := native.Open(); err != nil {
		log.Warn("the windows of programs cannot be read", "error", err)
	} else {
		tree, display := ax.New(api), quartz.New(api)
		parts, closer = desktop.Backend{Tree: tree, Actor: tree, Events: tree, Windows: display, Screen: display}, tree
	}
	backend := cdp.Wrap(parts, cfg.browsers, log)
	return func() desktop.Backend { return backend }, closer
}
