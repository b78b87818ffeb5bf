package introspect_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/importers/introspect"
)

// put writes a descriptor with that source, "" for none.
func (w *world) put(id, from, digest string) {
	w.Helper()
	made := ""
	if from != "" {
		made = `"generated": {"from": "` + from + `", "digest": "` + digest + `"},`
	}
	text := `{"schema_version": "1.0", "version": "1.0.0", "appId": "` + id + `", "name": "A", "description": "A", ` + made + `
		"platforms": {"linux": {"automation": "dbus", "service": "` + id + `", "object": "/a", "interface": "org.example.A", "tools": [
		{"name": "ping", "description": "Pings", "method": "Ping", "parameters": {"type": "object", "properties": {}}}]}}}`
	file := filepath.Join(w.folder, id, catalog.FileName)
	assert.NilError(w, errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)))
}

// TestSources checks that sources of every kind are compared, and that a hanging source affects
// no other.
func TestSources(t *testing.T) {
	w := newWorld(t)
	old, now := strings.Repeat("a", 64), strings.Repeat("b", 64)
	w.put("org.example.hand", "", "")
	w.put("org.example.gone", "dbus:org.example.gone", old)
	w.put("org.example.new", "openapi:/new.json", old)
	w.put("org.example.same", "client:zed/same", now)
	w.put("org.example.hangs", "client:zed/hangs", old)
	elsewhere := func(hangs bool) func(context.Context, *catalog.Document) (string, string, error) {
		return func(ctx context.Context, d *catalog.Document) (string, string, error) {
			if hangs && d.ID == "org.example.hangs" {
				<-ctx.Done()
				return "", "", ctx.Err()
			}
			return now, "run me for " + d.ID, nil
		}
	}
	states := func(each time.Duration, c introspect.Config) map[string]string {
		t.Helper()
		c.Folder = w.folder
		got := make(map[string]string)
		for _, row := range introspect.New(c).CheckSources(t.Context(), each) {
			got[row.App] = row.State
			assert.Check(t, row.State != introspect.SourceChanged || row.Reason == "run: run me for "+row.App && row.Digest == now && strings.Contains(row.Name, ":"), "%+v", row)
			if row.TimedOut {
				got[row.App] += ", late"
			}
		}
		return got
	}
	want := map[string]string{"org.example.gone": "unknown", "org.example.new": "changed", "org.example.same": "current", "org.example.hangs": "changed"}
	assert.Check(t, is.DeepEqual(want, states(time.Minute, introspect.Config{Driver: w.driver, ExternalSource: elsewhere(false)})))
	// Without buses the other sources are still compared.
	want["org.example.hangs"] = "unknown, late"
	assert.Check(t, is.DeepEqual(want, states(50*time.Millisecond, introspect.Config{ExternalSource: elsewhere(true)})))
}
