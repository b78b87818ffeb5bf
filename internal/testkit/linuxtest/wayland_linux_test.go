package linuxtest_test

import (
	"testing"

	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// TestWayland: the fixtures come up on the chosen compositor.
func TestWayland(t *testing.T) {
	for _, kind := range []linuxtest.Kind{linuxtest.GTK4, linuxtest.Qt6} {
		t.Run(string(kind), func(t *testing.T) {
			s := linuxtest.StartWayland(t, linuxtest.ChosenCompositor())
			s.Fixture(t, kind).WaitState(t, "presses", 0)
		})
	}
}
