package main

import (
	"io"
	"log/slog"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/linux/actingsign"
	"github.com/gybob/aai-gateway/internal/platform/windows/programs"
	"github.com/gybob/aai-gateway/internal/platform/windows/screen"
)

// screenBackend returns the parts of the desktop's backend that read no elements, and a closer for them.
func (s *setup) screenBackend(log *slog.Logger) (desktop.Backend, io.Closer) {
	shared := s.inputLock()
	display := screen.New(screen.Config{InputLock: shared, Log: log})
	indicator := display.Indicator(actingsign.Config{Sign: s.ActingSign, StopKey: parseChord(s.StopKey), OnStop: s.stopEverything})
	shared.SetPauseReason(display.PauseReason)
	return desktop.Backend{
		Changes: display, Windows: display, Input: display, Screen: display, Clipboard: display,
		Programs: s.programs(), Indicator: indicator, PauseReason: display.PauseReason,
	}, closerFunc(func() error { indicator.Close(); return nil })
}

// programs returns the launcher for programs.
func (s *setup) programs() *programs.Launcher {
	return programs.New(programs.Config{Getenv: s.session.Getenv, Environ: func() []string { return withoutSecrets(s.appEnviron()) }})
}

// A closerFunc is a function as an io.Closer.
type closerFunc func() error

// Close implements io.Closer.
func (f closerFunc) Close() error { return f() }
