package session_test

import (
	"context"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/platform/linux/session"
)

// TestPauseReasons checks each reason for a pause against real services.
func TestPauseReasons(t *testing.T) {
	const here = "this screen"
	cases := map[string]struct {
		login  *login1
		screen string
		want   string
	}{
		"none":    {&login1{sessions: []login{{id: "1", kind: "x11", display: here}}}, "", ""},
		"locked":  {&login1{sessions: []login{{id: "1", kind: "x11", display: here, locked: true}}}, "", "the screen is locked"},
		"suspend": {&login1{sessions: []login{{id: "1", kind: "x11", display: here}}, sleeping: true}, "", "the computer is about to sleep"},
		"monitor": {&login1{sessions: []login{{id: "1", kind: "x11", display: here}}}, "no monitor is connected", "no monitor is connected"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			screen := w.screen()
			w.env["DISPLAY"], w.env["XAUTHORITY"] = screen.display, screen.cookie
			c.login.sessions[0].display = screen.display
			w.login1(c.login)
			p := &session.PauseChecker{Detector: w.detector(), Screen: func(context.Context) string { return c.screen }}
			assert.Check(t, is.Equal(p.Reason(t.Context()), c.want))
		})
	}
}
