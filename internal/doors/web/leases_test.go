package web_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
)

// TestLeases checks that the page shows which agent works in which program, and until when.
func TestLeases(t *testing.T) {
	w := newWorld(t)
	w.enter(t)
	assert.Assert(t, !strings.Contains(w.shows(t, "Nothing runs."), `id="leases"`), "a heading without leases")
	call := &aai.Call{Caller: aai.Caller{Door: aai.DoorMCP, Name: "<b>cl", Identity: "/usr/bin/claude", Session: "s"}, Target: &aai.App{Name: "Edit<i>or", PID: 7}}
	assert.NilError(t, w.leases.Take(t.Context(), call, "1"))
	w.shows(t, "Agents at work in programs", "mcp:&lt;b&gt;cl (/usr/bin/claude)", "Edit&lt;i&gt;or", "until", "You are never kept out.")
	assert.Check(t, w.leases.Release(t.Context(), call, "1"))
	assert.Assert(t, !strings.Contains(w.shows(t, "Nothing runs."), `id="leases"`), "an ended lease is shown")
}
