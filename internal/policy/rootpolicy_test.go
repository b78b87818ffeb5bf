package policy

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

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
		r := request(tool, "")
		assert.Check(t, is.Equal(check(own, r), "admits"), tool)
		assert.Check(t, is.Equal(r.Consent, consent), tool)
	}
	closed := NewBuiltinGate(BuiltinConfig{AgentTools: []string{"apps"}, NeedsConsent: asked})
	got := check(closed, request("discover", ""))
	assert.Check(t, is.Equal(got, string(aai.PermissionDenied)), "what is not open: %s", got)

	d := newDesk()
	got = check(d.Consent, request("discover", ""))
	assert.Check(t, is.Equal(got, "admits"), "without Asked: %s", got)
	d.builtinNeedsConsent = asked
	for _, r := range []*aai.Request{request("apps", ""), request("mode_set", ""), request("discover", "example.com")} {
		if got := check(d.Consent, r); got != "admits" {
			t.Errorf("%s with %v: %s", r.Tool.Name, r.Call.Args, got)
		}
	}
	q := d.question(t, request("discover", ""))
	for _, c := range q.Choices {
		assert.Check(t, c.ID != choiceAll, "all of the gateway's own tools are offered")
	}
	r := answered(request("discover", ""), q, choiceAlways)
	d.admits(t, r)
	d.admits(t, request("discover", ""))
	assert.Assert(t, is.Len(d.kept.grants, 1))
	assert.Equal(t, d.kept.grants[0].Tool, "discover")
	assert.Equal(t, d.kept.grants[0].App, aai.BuiltinApp)
	other := request("discover", "")
	other.Call.Caller.Identity = "/usr/bin/other"
	got = check(d.Consent, other)
	assert.Check(t, is.Equal(got, "asks"), "another agent: %s", got)
}
