package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"

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
	if err != nil {
		t.Fatal(err)
	}
	d := newDesk(t)
	c, err := d.readFile(t, "{}")
	built, err := (&program{getenv: d.getenv, hostAccess: d.grounds(), err: io.Discard}).build(mustRead(t, c, err))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = built.close() }()
	app, err := built.gateway.Catalog.Find(t.Context(), aai.BuiltinApp)
	if err != nil {
		t.Fatal(err)
	}
	changes := 0
	for _, tool := range app.Tools {
		if tool.Effect == aai.Reads || tool.Assessment(nil).OnlyMakesCalls {
			continue // its calls are gated separately
		}
		changes++
		if _, ok := known[tool.Name]; !ok {
			t.Errorf("%s does not only read; say in testdata/ownchanges.json how it is called", tool.Name)
		}
	}
	if changes != len(known) {
		t.Errorf("%d tools change something, and %d are known", changes, len(known))
	}
}

// The released program contains none of the tests' host access.
func TestReleasedProgramUsesTheRealHost(t *testing.T) {
	if g := newHostAccess(); g.confirmed != nil || g.person != nil || g.policy == nil || g.home == nil || g.session == nil || g.checkOwned == nil || g.isolationFault == nil {
		t.Errorf("%+v", g)
	}
	env := map[string]string{
		"DISPLAY": ":99", "WAYLAND_DISPLAY": "w", "XAUTHORITY": "/x", "XDG_RUNTIME_DIR": "/r", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/x", session.PrivateMark: "1",
		"SSH_CONNECTION": "a", "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/x", "CREDENTIALS_DIRECTORY": "/c", "AAI_MASTER_KEY_FILE": "/k", "HOME": "/planted", "XDG_DATA_DIRS": "/x", "LANG": "zh_CN",
	}
	clean := withoutSessionVariables(func(name string) string { return env[name] })
	for name, value := range env {
		if got := clean(name); got == value {
			t.Errorf("%s is %q", name, got)
		}
	}
	if u := userinfo.HomeDir(); u == "" || u == "/planted" {
		t.Errorf("the account's home is %q", u)
	}
}
