package policy

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gui/risk"
)

// TestOnlyCalls checks that a builtin tool that only makes calls needs no question: its calls do.
// The sandboxed mode refuses it. Another app that claims this is treated as any other.
func TestOnlyCalls(t *testing.T) {
	of := func(app *aai.App, kind aai.Kind) *aai.Request {
		app.Tools = append(app.Tools, &aai.Tool{Name: "several", Assess: aai.Always(aai.Assessment{OnlyMakesCalls: true, Kind: kind})})
		r := asking(app, "several")
		r.Call.Args["name"] = "delete all"
		return r
	}
	own := func() *aai.App { return &aai.App{ID: aai.BuiltinApp} }
	plain := func() *aai.App { return notesApp("d") }
	for name, c := range map[string]struct {
		app                   func() *aai.App
		kind                  aai.Kind
		consent, safe, strict string
		open, closed          string
	}{
		"of the desktop":       {app: screen, consent: "admits", safe: "admits", strict: "PERMISSION_DENIED", open: "admits", closed: "admits"},
		"of the gateway":       {app: own, consent: "admits", safe: "admits", strict: "PERMISSION_DENIED", open: "admits", closed: "asks"},
		"of an app":            {app: plain, consent: "asks", safe: "admits", strict: "PERMISSION_DENIED", open: "admits", closed: "admits"},
		"a script, of windows": {app: screen, kind: aai.KindScript, consent: "admits", safe: "PERMISSION_DENIED", strict: "PERMISSION_DENIED", open: "admits", closed: "admits"},
	} {
		t.Run(name, func(t *testing.T) {
			for what, gate := range map[string]struct {
				gate aai.Gate
				want string
			}{
				"consent":   {newDesk(), c.consent},
				"safe":      {&ModeGate{Configured: Safe}, c.safe},
				"sandboxed": {&ModeGate{Configured: Sandboxed}, c.strict},
				"open":      {NewBuiltinGate(BuiltinConfig{AgentTools: []string{"several"}, Authenticator: &somebody{way: aai.DesktopDialog}}), c.open},
				"not open":  {NewBuiltinGate(BuiltinConfig{Authenticator: &somebody{way: aai.DesktopDialog}}), c.closed},
				"a dialog":  {risk.ProtectedWindows{IsDialogOpen: func() bool { return true }}, "admits"},
			} {
				assert.Check(t, is.Equal(check(gate.gate, of(c.app(), c.kind)), gate.want), what)
			}
			r := of(c.app(), c.kind)
			if check(risk.NewDestructiveMarker([]string{"delete"}), r); r.Destructive {
				t.Error("its own words are taken for an act")
			}
		})
	}
}
