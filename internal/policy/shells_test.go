package policy

import (
	"strings"
	"testing"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gui/risk"
)

// shelled returns the request after the gate.
func shelled(t *testing.T, r *aai.Request) *aai.Request {
	t.Helper()
	if got := check(risk.ShellMarker{}, r); got != "admits" {
		t.Error(got)
	}
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
	if !strings.HasSuffix(q.Title, `to type commands into the windows of "xterm"?`) || !strings.Contains(q.Text, "\nIt would: run any command as you\n") {
		t.Errorf("%s\n%s", q.Title, q.Text)
	}
	for _, c := range q.Choices {
		if c.ID == choiceAll {
			t.Error("all is offered")
		}
	}
	if q.Channels[0] == aai.Client {
		t.Error("a client may ask it")
	}
	d.admits(t, answered(typing(), q, choiceAlways))
	d.admits(t, typing())

	all := newDesk()
	q = all.question(t, shelled(t, operating(program("xterm", "x"), "scroll")))
	all.admits(t, answered(operating(program("xterm", "x"), "scroll"), q, choiceAll))
	all.question(t, typing())
	newDesk(every(aai.PermissionRun)).admits(t, typing())

	chinese := chinese()
	if got := chinese.window(typing(), aai.PermissionRun); !strings.Contains(got, "输入命令") || !strings.Contains(chinese.anyCommand, "任何命令") {
		t.Error(got)
	}
}

// TestSafeRunsNothing checks that mode safe refuses typing into a terminal.
func TestSafeRunsNothing(t *testing.T) {
	for mode, want := range map[Mode]string{Normal: "admits", Safe: "PERMISSION_DENIED", Sandboxed: "PERMISSION_DENIED"} {
		r := shelled(t, operating(program("xterm", "x"), "type"))
		if got := check(&ModeGate{Configured: mode}, r); got != want {
			t.Errorf("%s: %s", mode, got)
		}
	}
	if got := check(&ModeGate{Configured: Safe}, shelled(t, operating(program("mousepad", "m"), "type"))); got != "admits" {
		t.Error(got)
	}
}
