package atspi_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/desktoptest"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/platform/linux/atspi"
	"github.com/gybob/aai-gateway/internal/platform/linux/wayland"
	"github.com/gybob/aai-gateway/internal/platform/linux/x11"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// unable returns the background actions that a toolkit lacks.
func unable() map[linuxtest.Kind][]string {
	return map[linuxtest.Kind][]string{
		linuxtest.GTK4: {"press Agree", "press File", "select Blue"},
		linuxtest.Qt6:  {"select Blue"},
		linuxtest.Chromium: {
			"set_text Full name", "insert_text Full name", "set_text Notes", "set_text Password",
		},
	}
}

// unreported returns the properties that a toolkit does not expose.
func unreported() map[linuxtest.Kind][]string {
	return map[linuxtest.Kind][]string{
		linuxtest.GTK4: {"value Colour"},
		linuxtest.Qt6:  {"modal Really?"},
	}
}

// TestSuite runs the backend suite on the Bus with real windows, together with X11.
func TestSuite(t *testing.T) {
	t.Parallel()
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
				PID: f.PID, Title: f.Title, State: f.State, Lacks: f.Lacks, Unsupported: unable()[kind], Unreported: unreported()[kind],
				Person: func(t testing.TB) any {
					x, y := s.Pointer(t)
					return fmt.Sprintf("%d,%d in %q", x, y, s.ActiveWindow(t))
				},
				Stop: f.Suspend, Continue: f.Continue, Kill: f.Kill,
			})
		})
	}
}

// TestWaylandSuite runs the backend suite on the Bus with real windows, together with the compositor's interfaces.
// Wayland has no second seat, so the own pointer is refused.
func TestWaylandSuite(t *testing.T) {
	t.Parallel()
	kinds := []linuxtest.Kind{linuxtest.GTK4, linuxtest.Qt6, linuxtest.Chromium}
	if os.Getenv(linuxtest.CompositorEnv) != "" {
		kinds = kinds[:2] // "make test-wayland" has no Chromium
	}
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			s := linuxtest.StartWayland(t, linuxtest.ChosenCompositor())
			screen := wayland.New(wayland.Config{Getenv: s.Getenv, InputLock: inputlock.New(inputlock.Config{Folder: inputlock.Folder, Getenv: s.Getenv})})
			t.Cleanup(func() { _ = screen.Close() })
			relative := func(context.Context) bool { return true }
			bus := atspi.New(atspi.Config{Getenv: s.Getenv, Windows: screen, HasRelativeFrames: relative})
			t.Cleanup(bus.Close)
			f := s.Fixture(t, kind)
			desktoptest.Run(t, desktoptest.Subject{
				Backend: desktop.Backend{
					Tree: bus, Actor: bus, Events: bus,
					Windows: screen, Input: screen, Screen: screen, Clipboard: screen,
				},
				PID: f.PID, Title: f.Title, State: f.State, Lacks: f.Lacks, Unsupported: unable()[kind], Unreported: unreported()[kind],
				Stop: f.Suspend, Continue: f.Continue, Kill: f.Kill,
			})
		})
	}
}
