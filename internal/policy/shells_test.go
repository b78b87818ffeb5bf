package policy

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gui/risk"
)

// shelled returns the request after the gate.
func shelled(t *testing.T, r *aai.Request) *aai.Request {
	t.Helper()
	assert.Check(t, is.Equal(check(risk.ShellMarker{}, r), "admits"))
	return r
}

// TestToRunIsAskedApart checks that neither "act" nor "all" nor "*" permits running commands.
func TestToRunIsAskedApart(t *testing.T) {
	typing := func() *aai.Request { return shelled(t, operating(program("xterm", "x"), "type")) }
	every := func(tool string) Grant {
		return Grant{Caller: Wildcard, App: "desktop/xterm", Tool: tool, Decision: Allow}
	}
	d := newDesk(every(aai.PermissionAct), every(aai.PermissionSee), every(aai.PermissionDestroy), every(aai.PermissionStart), every(Wildcard))
	q := d.question(t, typing())
	assert.Assert(t, strings.HasSuffix(q.Title, `to type commands into the windows of "xterm"?`), q.Title)
	assert.Assert(t, is.Contains(q.Text, "\nIt would: run any command as you\n"), q.Title)
	for _, c := range q.Choices {
		assert.Check(t, c.ID != choiceAll, "all is offered")
	}
	assert.Check(t, q.Channels[0] != aai.Client, "a client may ask it")
	d.admits(t, answered(typing(), q, choiceAlways))
	d.admits(t, typing())

	all := newDesk()
	q = all.question(t, shelled(t, operating(program("xterm", "x"), "scroll")))
	all.admits(t, answered(operating(program("xterm", "x"), "scroll"), q, choiceAll))
	all.question(t, typing())
	newDesk(every(aai.PermissionRun)).admits(t, typing())

	chinese := chinese()
	got := chinese.window(typing(), aai.PermissionRun)
	assert.Assert(t, is.Contains(got, "输入命令"))
	assert.Assert(t, is.Contains(chinese.anyCommand, "任何命令"))
}

// TestSafeRunsNothing checks that mode safe refuses typing into a terminal.
func TestSafeRunsNothing(t *testing.T) {
	for mode, want := range map[Mode]string{Normal: "admits", Safe: "PERMISSION_DENIED", Sandboxed: "PERMISSION_DENIED"} {
		r := shelled(t, operating(program("xterm", "x"), "type"))
		assert.Check(t, is.Equal(check(&ModeGate{Configured: mode}, r), want), mode)
	}
	assert.Check(t, is.Equal(check(&ModeGate{Configured: Safe}, shelled(t, operating(program("mousepad", "m"), "type"))), "admits"))
}
