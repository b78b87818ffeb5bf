package dialog

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/platform/linux/wayland"
	"github.com/gybob/aai-gateway/internal/platform/linux/x11"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// screenOf returns the screen of a session, on X11 or Wayland.
func screenOf(getenv func(string) string, shared *inputlock.Lock) *wayland.Session {
	return wayland.NewSession(wayland.New(wayland.Config{Getenv: getenv, InputLock: shared}), x11.New(x11.Config{Getenv: getenv, InputLock: shared}))
}

// frontOfWayland returns the process of the window with the focus, if it is a gateway's.
func frontOfWayland(t *testing.T, s *linuxtest.Session) int {
	t.Helper()
	windows, err := screenOf(s.Getenv, nil).Windows(t.Context())
	assert.NilError(t, err)
	for _, w := range windows {
		if w.Active && strings.HasPrefix(w.Title, "AAI Gateway") {
			return w.PID
		}
	}
	return 0
}

// TestWaylandNobodyAnswersByTyping is TestNobodyAnswersByTyping with virtual keyboards of Wayland, and with all programs:
// those that need an X server fail, and the next one asks.
func TestWaylandNobodyAnswersByTyping(t *testing.T) {
	s := linuxtest.StartWayland(t, linuxtest.ChosenCompositor())
	f := s.Fixture(t, linuxtest.GTK3)
	window := ""
	for until := time.Now().Add(testPatience); window == ""; time.Sleep(focusPollInterval) {
		windows, err := screenOf(s.Getenv, nil).Windows(t.Context())
		assert.NilError(t, err)
		for _, w := range windows {
			if w.PID == f.PID {
				window = fmt.Sprint(w.ID)
			}
		}
		assert.Assert(t, !time.Now().After(until), "the window does not come up")
	}
	a := startArena(t, s, anyProgram, window)
	for round, pattern := range patterns()[:2] {
		a.round(pattern, round == 1)
	}
}
