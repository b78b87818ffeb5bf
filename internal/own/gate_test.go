package own_test

import (
	"strings"
	"testing"

	"aai"
	"aai/internal/own"
)

// arguments are right ones for every tool of the gateway.
func arguments() map[string]string {
	return map[string]string{
		own.Apps: `{}`, own.Guide: `{"app": "memo"}`, own.Descriptor: `{"app": "memo"}`, own.Scan: `{}`, own.Projects: `{}`, own.History: `{}`, own.Consents: `{}`,
		own.Grant:    `{"app": "memo", "tool": "*", "caller": "*"}`,
		own.Takeover: `{"caller": "mcp:x", "identity": "/usr/bin/x"}`, own.Drop: `{}`,
		own.Revoke: `{}`, own.Mode: `{}`, own.SetMode: `{"mode": "normal"}`,
		own.Discover: `{"url": "example.com"}`, own.NameSite: `{"name": "example", "url": "example.com"}`,
		own.Keychain: `{}`, own.Check: `{}`,
		own.Lint:  `{"source": "../../descriptors/org.gnome.Calculator/aai.json"}`,
		own.LogIn: `{"app": "memo"}`, own.LogOut: `{"app": "memo"}`, own.LoginStatus: `{}`,
		own.AuditVerify: `{}`, own.AuditExport: `{}`,
	}
}

func TestAgentsGetOnlyWhatIsOpen(t *testing.T) {
	w := newWorld(t, apps())
	app, err := w.gateway.Catalog.Find(t.Context(), aai.OwnApp)
	if err != nil {
		t.Fatal(err)
	}
	open := map[string]bool{own.Apps: true, own.Guide: true, own.Descriptor: true, own.Discover: true, own.Projects: true}
	for _, tool := range app.Tools {
		given, known := arguments()[tool.Name]
		if !known {
			t.Errorf("%s is new; say here whether agents may use it", tool.Name)
		}
		for _, door := range []string{aai.DoorMCP, "", "web", "CLI"} {
			_, err := w.do(t, aai.Caller{Door: door, Name: "claude"}, aai.OwnApp, tool.Name, given)
			e := aai.AsError(err)
			switch {
			case open[tool.Name] && e != nil:
				t.Errorf("%s is closed to %q: %v", tool.Name, door, e)
			case !open[tool.Name] && (e == nil || e.Code != aai.PermissionDenied):
				t.Errorf("%s is open to %q: %v", tool.Name, door, e)
			case !open[tool.Name] && !strings.Contains(e.Hint, "aai-gateway"):
				t.Errorf("%s: the hint does not say what to do: %q", tool.Name, e.Hint)
			}
		}
		_, err := w.do(t, person(), aai.OwnApp, tool.Name, given)
		if e := aai.AsError(err); e != nil && (tool.Name != own.LogIn || e.Code != aai.InvalidParams) { // the app wants no login
			t.Errorf("%s is closed to the person: %v", tool.Name, err)
		}
	}
	if grants, err := w.store.Grants(); err != nil || len(grants) != 0 {
		t.Errorf("after the person revoked everything there are %d grants, %v", len(grants), err)
	}
}

func TestEveryToolSaysWhatItDoes(t *testing.T) {
	w := newWorld(t, nil)
	app, err := w.gateway.Catalog.Find(t.Context(), aai.OwnApp)
	if err != nil {
		t.Fatal(err)
	}
	if len(app.Tools) != len(arguments()) {
		t.Errorf("%d tools, but %d are known to the tests", len(app.Tools), len(arguments()))
	}
	for _, tool := range app.Tools {
		changes := tool.Name == own.Grant || tool.Name == own.Revoke || tool.Name == own.Takeover || tool.Name == own.Drop || tool.Name == own.SetMode || tool.Name == own.NameSite ||
			tool.Name == own.LogIn || tool.Name == own.LogOut || tool.Name == own.AuditExport
		if (tool.Effect == aai.Changes) != changes || (tool.Effect == aai.Reads) == changes {
			t.Errorf("%s %s", tool.Name, tool.Effect)
		}
		if tool.Description == "" || tool.Run == nil || tool.Params.Check == nil {
			t.Errorf("%s is not complete", tool.Name)
		}
	}
}
