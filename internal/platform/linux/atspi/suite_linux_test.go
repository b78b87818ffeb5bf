package atspi_test

import (
	"fmt"
	"testing"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/desktoptest"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/platform/linux/atspi"
	"github.com/gybob/aai-gateway/internal/platform/linux/x11"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// TestSuite runs the backend suite on the Bus with real windows, together with X11.
func TestSuite(t *testing.T) {
	t.Parallel()
	// Background actions that a toolkit lacks, and properties that it does not expose.
	unable := map[linuxtest.Kind][]string{
		linuxtest.GTK4: {"press Agree", "press File", "select Blue"},
		linuxtest.Qt6:  {"select Blue"},
		linuxtest.Chromium: {
			"set_text Full name", "insert_text Full name", "set_text Notes", "set_text Password",
		},
	}
	untold := map[linuxtest.Kind][]string{
		linuxtest.GTK4: {"value Colour"},
		linuxtest.Qt6:  {"modal Really?"},
	}
	for _, kind := range linuxtest.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			s := linuxtest.StartAccessible(t)
			screen := x11.New(x11.Config{Getenv: s.Getenv, InputLock: inputlock.New(inputlock.Config{Folder: inputlock.Folder, Getenv: s.Getenv})})
			t.Cleanup(func() { _ = screen.Close() })
			bus := atspi.New(atspi.Config{Getenv: s.Getenv, Windows: screen})
			t.Cleanup(bus.Close)
			f := s.Fixture(t, kind)
			desktoptest.Run(t, desktoptest.Subject{
				Backend: desktop.Backend{
					Tree: bus, Actor: bus, Events: bus,
					Windows: screen, Input: screen, Screen: screen, Clipboard: screen,
				},
				PID: f.PID, Title: f.Title, State: f.State, Lacks: f.Lacks, Unsupported: unable[kind], Unreported: untold[kind],
				Person: func(t testing.TB) any {
					x, y := s.Pointer(t)
					return fmt.Sprintf("%d,%d in %q", x, y, s.ActiveWindow(t))
				},
				Stop: f.Suspend, Continue: f.Continue, Kill: f.Kill,
			})
		})
	}
}
