package catalog

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
)

// recorder is a driver that records its recipes.
type recorder struct {
	mu      sync.Mutex
	recipes []*aai.Recipe
	refuse  error
}

func (d *recorder) Compile(r *aai.Recipe) (aai.Action, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.recipes = append(d.recipes, r)
	if d.refuse != nil {
		return nil, d.refuse
	}
	return func(context.Context, *aai.Call) (*aai.Result, error) { return &aai.Result{Text: r.Kind}, nil }, nil
}

func drivers(d aai.Driver, kinds ...string) map[string]aai.Driver {
	m := make(map[string]aai.Driver)
	for _, k := range kinds {
		m[k] = d
	}
	return m
}

// linuxApp returns a small valid descriptor. The extra JSON members go into the app's object,
// each followed by a comma.
func linuxApp(id, name, extra string) string {
	return fmt.Sprintf(`{"schema_version": "1.0", "appId": %q, "name": %q, "description": "An app.", %s
  "platforms": {"linux": {"automation": "dbus", "service": "org.example.App", "object": "/org/example/App",
    "interface": "org.example.App", "tools": [{"name": "open", "description": "Opens a file.", "method": "Open",
      "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}}]}}}`, id, name, extra)
}

// withPlatforms returns a descriptor with the platforms given as JSON.
func withPlatforms(platforms string) string {
	return `{"schema_version": "1.0", "appId": "org.example.App", "name": "App", "description": "An app.", "platforms": ` + platforms + `}`
}

// linuxTool returns a descriptor with one tool for Linux, given as JSON members.
func linuxTool(members string) string {
	return withPlatforms(`{"linux": {"automation": "dbus", "service": "org.example.App", "object": "/org/example/App",
		"interface": "org.example.App", "tools": [{"name": "t", "description": "D.", "parameters": {"type": "object",
		"properties": {"a": {"type": "string"}, "b": {"type": "string"}}}, ` + members + `}]}}`)
}

func write(t *testing.T, path, content string) {
	t.Helper()
	assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	assert.NilError(t, os.WriteFile(path, []byte(content), 0o600))
}

func mustParse(t *testing.T, source string, o Options) *Descriptor {
	t.Helper()
	d, err := Parse([]byte(source), o)
	if err != nil {
		t.Fatalf("%v\n%v", err, aai.AsError(err).Err)
	}
	return d
}

func read(t *testing.T, name string) string {
	t.Helper()
	source, err := os.ReadFile(name)
	assert.NilError(t, err)
	return string(source)
}

// ids lists the apps' ids.
func ids(apps []*aai.App) string {
	var list []string
	for _, app := range apps {
		list = append(list, app.ID)
	}
	return strings.Join(list, " ")
}
