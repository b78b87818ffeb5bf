package main

import (
	"crypto/rand"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/builtin"
	"github.com/gybob/aai-gateway/internal/doctor"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/policy"
)

// notesDescriptor is an app whose calls need a consent.
const notesDescriptor = `{"schema_version": "1.0", "platform": "linux", "app": {"id": "org.example.Notes", "name": "Notes", "description": "Notes."},
 "execution": {"type": "dbus", "service": "org.example.Notes", "object": "/", "interface": "org.example.Notes"},
 "tools": [{"name": "list", "description": "List.", "effect": "reads", "parameters": {"type": "object", "properties": {}}, "execution": {"method": "List"}}]}`

// storageDesk is an installation with stored decisions.
type storageDesk struct {
	*desk
	t       *testing.T
	foreign bool // the environment sets HOME
}

// setup reads the configuration.
func (d *storageDesk) setup() *setup {
	d.t.Helper()
	g := d.grounds()
	if d.foreign {
		g.home = func() string { return "/nonexistent" }
	}
	s, err := setUp(setupInput{getenv: d.getenv, home: d.home, platform: hostPlatform(d.home, d.getenv), hostAccess: g})
	return mustRead(d.t, s, err)
}

// keep stores a consent and a passphrase.
func (d *storageDesk) keep() {
	d.t.Helper()
	store, passphrase := d.setup().kept()
	d.must(store.Add(policy.Grant{Caller: "cli:other", App: "org.example.Notes", Tool: "list", Decision: policy.Deny}))
	d.must(passphrase.Change(d.t.Context(), "hunter2hunter2"))
}

func (d *storageDesk) must(err error) {
	d.t.Helper()
	assert.NilError(d.t, err)
}

// path returns a path in the data folder.
func (d *storageDesk) path(name string) string {
	return filepath.Join(hostPlatform(d.home, d.getenv).data, filepath.FromSlash(name))
}

// damage cuts the files that match the pattern.
func (d *storageDesk) damage(pattern string) {
	d.t.Helper()
	files, err := filepath.Glob(d.path(pattern))
	d.must(err)
	assert.Assert(d.t, len(files) != 0, "no file is %s", pattern)
	for _, file := range files {
		d.must(os.WriteFile(file, []byte(`{"cut`), 0o600))
	}
}

// useKeyFile sets a new key file.
func (d *storageDesk) useKeyFile() {
	key := make([]byte, 32)
	_, _ = rand.Read(key)
	d.env["AAI_MASTER_KEY_FILE"] = d.file(d.t, "key-"+rand.Text(), string(key))
}

// TestStorageFaultIsReported checks that the doctor and the keychain's status report a fault exactly if a call
// cannot read the consents, or no typed passphrase can be checked.
func TestStorageFaultIsReported(t *testing.T) {
	insecure := func(d *storageDesk) { d.env["AAI_INSECURE_STORAGE"] = "1" }
	for name, c := range map[string]struct {
		prepare func(d *storageDesk)
		faulty  bool
	}{
		"nothing is stored":        {func(*storageDesk) {}, false},
		"plain files":              {(*storageDesk).keep, false},
		"an unprotected key":       {func(d *storageDesk) { insecure(d); d.keep() }, false},
		"the key is not permitted": {func(d *storageDesk) { insecure(d); d.keep(); delete(d.env, "AAI_INSECURE_STORAGE") }, true},
		"a key file":               {func(d *storageDesk) { d.useKeyFile(); d.keep() }, false},
		"another key file":         {func(d *storageDesk) { d.useKeyFile(); d.keep(); d.useKeyFile() }, true},
		"no key file":              {func(d *storageDesk) { d.useKeyFile(); d.keep(); delete(d.env, "AAI_MASTER_KEY_FILE") }, true},
		"an unreachable bus": {func(d *storageDesk) {
			d.useKeyFile()
			d.keep()
			delete(d.env, "AAI_MASTER_KEY_FILE")
			d.env["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=" + d.home + "/bus"
		}, true},
		"a damaged label":       {func(d *storageDesk) { d.useKeyFile(); d.keep(); d.damage("secrets/key.json") }, true},
		"damaged records":       {func(d *storageDesk) { d.useKeyFile(); d.keep(); d.damage("secrets/*.sealed") }, true},
		"no label":              {func(d *storageDesk) { d.useKeyFile(); d.keep(); d.must(os.Remove(d.path("secrets/key.json"))) }, true},
		"secrets for others":    {func(d *storageDesk) { insecure(d); d.keep(); d.must(os.Chmod(d.path("secrets"), 0o755)) }, true},
		"a file for secrets":    {func(d *storageDesk) { d.file(d.t, strings.TrimPrefix(d.path("secrets"), d.home), "") }, true},
		"damaged consents":      {func(d *storageDesk) { d.keep(); d.damage("consent.json") }, true},
		"and a key":             {func(d *storageDesk) { d.keep(); d.damage("consent.json"); d.useKeyFile() }, true},
		"consents in a folder":  {func(d *storageDesk) { d.must(os.MkdirAll(d.path("consent.json"), 0o700)) }, true},
		"a damaged passphrase":  {func(d *storageDesk) { d.keep(); d.damage("passphrase.json") }, true},
		"a home of the caller":  {func(d *storageDesk) { d.foreign = true }, false},
		"and its key file":      {func(d *storageDesk) { d.foreign = true; d.useKeyFile() }, false},
		"and sealed, with it":   {func(d *storageDesk) { d.useKeyFile(); d.keep(); d.foreign = true }, true},
		"and sealed, insecure":  {func(d *storageDesk) { insecure(d); d.keep(); d.foreign = true }, true},
		"and damaged refusals":  {func(d *storageDesk) { d.keep(); d.damage("consent.json"); d.foreign = true }, true},
		"and a readable record": {func(d *storageDesk) { d.keep(); d.foreign = true }, false},
	} {
		t.Run(name, func(t *testing.T) {
			d := &storageDesk{desk: newDesk(t), t: t}
			d.file(t, ".aai/org.example.Notes/aai.json", notesDescriptor)
			c.prepare(d)
			assert.Equal(t, d.callFails(), c.faulty, "a call fails: %v", !c.faulty)
			d.reports(c.faulty)
		})
	}
}

// do makes a call as the person at the terminal.
func (d *storageDesk) do(gateway *gateway.Gateway, app, tool string, args map[string]any) (*aai.Result, error) {
	return gateway.Do(d.t.Context(), &aai.Call{
		Caller: aai.Caller{Door: aai.DoorCLI, Name: "terminal", Identity: aai.IdentityTerminal}, App: app, Tool: tool, Args: args,
	})
}

// callFails reports whether the store makes a call or a check of the passphrase fail.
func (d *storageDesk) callFails() bool {
	d.t.Helper()
	cfg := d.setup()
	_, passphrase := cfg.kept()
	wrong := passphrase.CheckPassphrase(d.t.Context(), "another one")
	built := d.build(cfg)
	_, err := d.do(built.gateway, "org.example.Notes", "list", nil)
	e := aai.AsError(err)
	assert.Assert(d.t, e != nil, "the call: %v", err)
	assert.Equal(d.t, e.Code, aai.ConsentRequired, err)
	return strings.Contains(e.Message, "cannot be read") || aai.AsError(wrong).Code == aai.AutomationFailed
}

// build creates the gateway.
func (d *storageDesk) build(cfg *setup) *components {
	d.t.Helper()
	p := &program{getenv: d.getenv, hostAccess: cfg.hostAccess, err: d.t.Output(), home: d.home}
	built, err := p.build(cfg)
	d.must(err)
	d.t.Cleanup(func() {
		assert.Check(d.t, built.close())
	})
	return built
}

// reports checks the reports of both tools, with the reason and the next step.
func (d *storageDesk) reports(faulty bool) {
	d.t.Helper()
	built := d.build(d.setup())
	var status struct {
		Problem string `json:"consents_problem"`
		Hint    string `json:"consents_hint"`
	}
	d.answer(built, builtin.Keychain, nil, &status)
	assert.Check(d.t, is.Equal((status.Problem != ""), faulty), "%+v", status)
	assert.Check(d.t, !faulty || status.Hint != "", "the status is %+v", status)
	var skip []any
	for _, name := range doctor.Checks() {
		if name != "keychain" {
			skip = append(skip, name)
		}
	}
	var report struct {
		State  string
		Checks []struct{ Check, State, Saw, Advice string }
	}
	text := d.answer(built, doctor.ToolName, map[string]any{"skip": skip}, &report)
	assert.Check(d.t, is.Equal((report.State == "broken"), faulty), "%s %+v", text, report)
	assert.Check(d.t, faulty != strings.Contains(text, "All is well"), "the doctor: %s %+v", text, report)
	for _, c := range report.Checks {
		assert.Check(d.t, c.State != "broken" || c.Saw != "" && c.Advice != "", "the doctor: %+v", c)
	}
}

// answer decodes the data of a builtin tool, and returns its text.
func (d *storageDesk) answer(built *components, tool string, args map[string]any, data any) string {
	d.t.Helper()
	result, err := d.do(built.gateway, aai.BuiltinApp, tool, args)
	d.must(err)
	b, err := json.Marshal(result.Data)
	d.must(err)
	d.must(json.Unmarshal(b, data))
	return result.Text
}

// TestListedToolsAreAdmitted checks for each mode and each tool of the real apps that the list and the guide have
// the tool exactly if the mode does not refuse its call.
func TestListedToolsAreAdmitted(t *testing.T) {
	d := &storageDesk{desk: newDesk(t), t: t}
	d.file(t, ".aai/org.example.Notes/aai.json", notesDescriptor)
	built := d.build(d.setup())
	i := slices.IndexFunc(built.gateway.Gates, func(g aai.Gate) bool { _, ok := g.(*policy.ModeGate); return ok })
	gate := built.gateway.Gates[i]
	unlisted := 0
	for _, mode := range []policy.Mode{policy.Normal, policy.Safe, policy.Sandboxed} {
		d.must(policy.SetMode(d.path("mode"), mode))
		apps := built.gateway.Catalog.Apps()
		for _, id := range []string{aai.BuiltinApp, aai.DesktopApp, "org.example.Notes"} {
			app, err := built.gateway.Catalog.Find(t.Context(), id)
			d.must(err)
			listed := namesOf(apps[slices.IndexFunc(apps, func(a *aai.App) bool { return a.ID == id })])
			guide := d.guide(built, id)
			for _, tool := range app.Tools {
				_, err := gate.Check(t.Context(), &aai.Request{
					Call: &aai.Call{Caller: aai.Caller{Door: aai.DoorMCP}, Target: &aai.App{ID: "desktop/editor", PID: 1}}, App: app, Tool: tool,
				})
				admitted := err == nil
				if !admitted {
					unlisted++
				}
				_, full := d.do(built.gateway, aai.BuiltinApp, builtin.Guide, map[string]any{"app": id, "tool": tool.Name})
				inGuide := admitted && !tool.Limits.Unlisted
				assert.Check(t, is.Equal(listed[tool.Name], admitted), "%s %s %s %v %v", mode, tool.Name, id, full, err)
				assert.Check(t, is.Equal(guide[tool.Name], inGuide), "%s %s %s %v %v", mode, tool.Name, id, full, err)
				assert.Check(t, is.Equal((full == nil), admitted), "%s %s %s %v %v", mode, tool.Name, id, full, err)
				e := aai.AsError(full)
				assert.Check(t, e == nil || e.Code == aai.PermissionDenied && e.Hint != "", "%s: the guide to %s of %s: %v", mode, tool.Name, id, e)
			}
		}
	}
	assert.Check(t, unlisted >= 20, "the modes refuse only %d tools", unlisted)
}

// namesOf returns the names of the app's tools.
func namesOf(app *aai.App) map[string]bool {
	names := make(map[string]bool)
	for _, tool := range app.Tools {
		names[tool.Name] = true
	}
	return names
}

// guide returns the names of the tools in the guide to the app.
func (d *storageDesk) guide(built *components, id string) map[string]bool {
	d.t.Helper()
	var data struct {
		Operations []struct{ Name string }
	}
	d.answer(built, builtin.Guide, map[string]any{"app": id}, &data)
	names := make(map[string]bool)
	for _, o := range data.Operations {
		names[o.Name] = true
	}
	return names
}
