package policy

import (
	"testing"

	"aai"
)

func ownRequest(door, tool string, effect aai.Effect) *aai.Request {
	app := &aai.App{ID: aai.OwnApp, Tools: []*aai.Tool{{Name: tool, Effect: effect}}}
	return &aai.Request{
		Call: &aai.Call{Caller: aai.Caller{Door: door, Name: "x"}, App: app.ID, Tool: tool},
		App:  app, Tool: app.Tools[0], Target: app,
	}
}

func TestOwn(t *testing.T) {
	gate := Own{Open: []string{"apps", "guide", "consent_grant"}, Personal: []string{aai.DoorCLI}}
	for _, c := range []struct {
		name   string
		gate   Own
		door   string
		tool   string
		effect aai.Effect
		want   string
	}{
		{"an agent reads what is open", gate, aai.DoorMCP, "guide", aai.Reads, "admits"},
		{"an agent reads what is not open", gate, aai.DoorMCP, "history", aai.Reads, "PERMISSION_DENIED"},
		{"open, but it changes something", gate, aai.DoorMCP, "consent_grant", aai.Changes, "PERMISSION_DENIED"},
		{"open, but nobody said what it does", gate, aai.DoorMCP, "guide", aai.Destroys, "PERMISSION_DENIED"},
		{"almost the name of an open tool", gate, aai.DoorMCP, "guide2", aai.Reads, "PERMISSION_DENIED"},
		{"a person reads what is not open", gate, aai.DoorCLI, "history", aai.Reads, "admits"},
		{"a person changes consent", gate, aai.DoorCLI, "consent_revoke", aai.Destroys, "admits"},
		{"a door that nobody knows", gate, "cli2", "consent_revoke", aai.Changes, "PERMISSION_DENIED"},
		{"no door at all", gate, "", "consent_revoke", aai.Changes, "PERMISSION_DENIED"},
		{"the zero gate, an agent", Own{}, aai.DoorMCP, "guide", aai.Reads, "PERMISSION_DENIED"},
		{"the zero gate, a person", Own{}, aai.DoorCLI, "guide", aai.Reads, "PERMISSION_DENIED"},
		{"the zero gate, nobody", Own{}, "", "", aai.Reads, "PERMISSION_DENIED"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := ownRequest(c.door, c.tool, c.effect)
			if got := check(c.gate, r); got != c.want {
				t.Errorf("%s, expected %s", got, c.want)
			}
			if admitted := r.Consent != ""; admitted != (c.want == "admits") {
				t.Errorf("consent on record is %q", r.Consent)
			}
		})
	}
}

// What the caller says of itself opens nothing: only the door counts.
func TestOwnDoesNotBelieveNames(t *testing.T) {
	r := ownRequest(aai.DoorMCP, "consent_grant", aai.Changes)
	r.Call.Caller.Name, r.Call.Caller.Principal = "cli:terminal", "cli"
	if got := check(Own{Personal: []string{aai.DoorCLI}}, r); got != "PERMISSION_DENIED" {
		t.Error(got)
	}
}

func TestOwnLeavesOtherAppsAlone(t *testing.T) {
	for _, gate := range []Own{{}, {Open: []string{"add"}, Personal: []string{aai.DoorMCP}}} {
		r := asking(notesApp("d1"), "add")
		if got := check(gate, r); got != "admits" || r.Consent != "" {
			t.Errorf("%s, consent %q; expected no word about it", got, r.Consent)
		}
	}
}

func TestConsentLeavesOwnAppToOwn(t *testing.T) {
	r := ownRequest(aai.DoorMCP, "consent_grant", aai.Destroys)
	d := newDesk()
	if got := check(d, r); got != "admits" || r.Consent != "" {
		t.Errorf("%s, consent %q; expected no word about it", got, r.Consent)
	}
}
