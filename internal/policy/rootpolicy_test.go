package policy

import (
	"testing"

	"github.com/gybob/aai-gateway"
)

// TestAskedOfOwn checks that BuiltinNeedsConsent makes the consent gate ask for that
// builtin tool alone, once, and the builtin gate admit it.
func TestAskedOfOwn(t *testing.T) {
	asked := func(r *aai.Request) bool { return r.Tool.Name == "discover" && r.Call.Args["url"] == nil }
	app := &aai.App{ID: aai.BuiltinApp, Name: "AAI Gateway", Tools: []*aai.Tool{{Name: "discover", Effect: aai.Reads}, {Name: "apps", Effect: aai.Reads}, {Name: "mode_set", Effect: aai.Changes}}}
	request := func(tool, url string) *aai.Request {
		r := asking(app, tool)
		if r.Call.Args = map[string]any{}; url != "" {
			r.Call.Args["url"] = url
		}
		return r
	}
	own := NewBuiltinGate(BuiltinConfig{AgentTools: []string{"discover", "apps", "mode_set"}, NeedsConsent: asked})
	for tool, consent := range map[string]string{"discover": "", "apps": "own"} {
		if r := request(tool, ""); check(own, r) != "admits" || r.Consent != consent {
			t.Errorf("%s: consent %q", tool, r.Consent)
		}
	}
	closed := NewBuiltinGate(BuiltinConfig{AgentTools: []string{"apps"}, NeedsConsent: asked})
	if got := check(closed, request("discover", "")); got != string(aai.PermissionDenied) {
		t.Errorf("what is not open: %s", got)
	}

	d := newDesk()
	if got := check(d.Consent, request("discover", "")); got != "admits" {
		t.Errorf("without Asked: %s", got)
	}
	d.builtinNeedsConsent = asked
	for _, r := range []*aai.Request{request("apps", ""), request("mode_set", ""), request("discover", "example.com")} {
		if got := check(d.Consent, r); got != "admits" {
			t.Errorf("%s with %v: %s", r.Tool.Name, r.Call.Args, got)
		}
	}
	q := d.question(t, request("discover", ""))
	for _, c := range q.Choices {
		if c.ID == choiceAll {
			t.Error("all of the gateway's own tools are offered")
		}
	}
	r := answered(request("discover", ""), q, choiceAlways)
	d.admits(t, r)
	d.admits(t, request("discover", ""))
	if len(d.kept.grants) != 1 || d.kept.grants[0].Tool != "discover" || d.kept.grants[0].App != aai.BuiltinApp {
		t.Errorf("kept: %+v", d.kept.grants)
	}
	other := request("discover", "")
	other.Call.Caller.Identity = "/usr/bin/other"
	if got := check(d.Consent, other); got != "asks" {
		t.Errorf("another agent: %s", got)
	}
}
