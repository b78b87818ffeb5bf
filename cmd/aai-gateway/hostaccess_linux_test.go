package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/files/userinfo"
	"github.com/gybob/aai-gateway/internal/platform/linux/session"
)

// The attack tests cover every builtin tool that does more than read.
func TestBuiltinChangesAreKnown(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("testdata", "ownchanges.json"))
	var known map[string]any
	if err == nil {
		err = json.Unmarshal(b, &known)
	}
	assert.NilError(t, err)
	d := newDesk(t)
	c, err := d.readFile(t, "{}")
	built, err := (&program{getenv: d.getenv, hostAccess: d.grounds(), err: io.Discard}).build(mustRead(t, c, err))
	assert.NilError(t, err)
	defer func() { _ = built.close() }()
	app, err := built.gateway.Catalog.Find(t.Context(), aai.BuiltinApp)
	assert.NilError(t, err)
	changes := 0
	for _, tool := range app.Tools {
		if tool.Effect == aai.Reads || tool.Assessment(nil).OnlyMakesCalls {
			continue // its calls are gated separately
		}
		changes++
		_, ok := known[tool.Name]
		assert.Check(t, ok, "%s does not only read; say in testdata/ownchanges.json how it is called", tool.Name)
	}
	assert.Check(t, is.Equal(changes, len(known)), "%d tools change something, and %d are known", changes, len(known))
}

// The released program contains none of the tests' host access.
func TestReleasedProgramUsesTheRealHost(t *testing.T) {
	g := newHostAccess()
	assert.Assert(t, g.confirmed == nil, "%+v", g)
	assert.Assert(t, g.person == nil, "%+v", g)
	assert.Assert(t, g.policy != nil, "%+v", g)
	assert.Assert(t, g.home != nil, "%+v", g)
	assert.Assert(t, g.session != nil, "%+v", g)
	assert.Assert(t, g.checkOwned != nil, "%+v", g)
	assert.Assert(t, g.isolationFault != nil, "%+v", g)
	env := map[string]string{
		"DISPLAY": ":99", "WAYLAND_DISPLAY": "w", "XAUTHORITY": "/x", "XDG_RUNTIME_DIR": "/r", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/x", session.PrivateMark: "1",
		"SSH_CONNECTION": "a", "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/x", "CREDENTIALS_DIRECTORY": "/c", "AAI_MASTER_KEY_FILE": "/k", "HOME": "/planted", "XDG_DATA_DIRS": "/x", "LANG": "zh_CN",
	}
	clean := withoutSessionVariables(func(name string) string { return env[name] })
	for name, value := range env {
		got := clean(name)
		assert.Check(t, got != value, "%s %q", name, got)
	}
	u := userinfo.HomeDir()
	assert.Check(t, u != "", "the account's home is %q", u)
	assert.Check(t, u != "/planted", "the account's home is %q", u)
}
