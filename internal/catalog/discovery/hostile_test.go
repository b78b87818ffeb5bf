package discovery_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/catalog/discovery"
)

// TestHostileDescriptors checks claims that a site must not make.
func TestHostileDescriptors(t *testing.T) {
	linux := strings.NewReplacer(`"platform": "web"`, `"platform": "linux"`, `"type": "http", "base_url": "https://api.example.com/v1"`,
		`"type": "dbus", "service": "org.example.X", "objectPath": "/", "interface": "org.example.X"`).Replace(notes)
	for _, test := range []struct{ name, body, names string }{
		{"nothing", "", "empty"},
		{"a page", "<html></html>", ""},
		{"a list", "[]", "object"},
		{"for D-Bus", linux, ""},
		{"for IPC", strings.Replace(notes, `"platform": "web"`, `"platform": "linux"`, 1), ""},
		{"an id without a dot", replaced(`"com.example.notes"`, `"aai"`), "app.id"},
		{"an id with a slash", replaced(`"com.example.notes"`, `"evil.com/com.example.notes"`), "app.id"},
		{"an id that climbs", replaced(`"com.example.notes"`, `"..evil.com"`), "app.id"},
		{"a key twice", replaced(`"platform": "web",`, `"platform": "web", "platform": "web",`), "platform"},
		{"a base over http", replaced(`https://api.example.com/v1`, `http://api.example.com/v1`), "base_url"},
		{"300 KiB", replaced("Keeps notes.", strings.Repeat("x", 300<<10)), "256 KiB"},
		{"deep", strings.Repeat(`{"a":`, 10_000) + "1" + strings.Repeat("}", 10_000), ""},
		{"a schema of itself", replaced(`{"text": {"type": "string"}}`, `{"text": {"$ref": "#/properties/text"}}`), "parameters"},
		{"a schema of a file", replaced(`{"text": {"type": "string"}}`, `{"text": {"$ref": "file:///etc/passwd"}}`), "parameters"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			w.serveDescriptor(test.body)
			e := w.fails(w.host, aai.DescriptorInvalid)
			assert.Check(t, is.Equal(e.ProtocolCode(), "INVALID_REQUEST"), "the protocol's page on errors calls it INVALID_REQUEST, not %q", e.ProtocolCode())
			assert.Check(t, is.Equal(e.Delivery, aai.NotDelivered), "a call is said to be %q", e.Delivery)
			assert.Assert(t, is.Contains(e.Message, test.names))
			assert.Assert(t, is.Contains(e.Message, w.host))
			assert.Check(t, is.Len(w.others.kinds, 0), "a driver was shown %q", w.others.kinds)
			_, err := os.Stat(w.file("aai.json"))
			assert.Check(t, is.ErrorIs(err, fs.ErrNotExist), "it was cached: %v", err)
		})
	}
}

// TestOnlyTheWebSectionRuns checks that sections for other platforms reach no driver with access
// to this computer.
func TestOnlyTheWebSectionRuns(t *testing.T) {
	tool := func(rest string) string {
		return `[{"name": "go", "description": "Goes", "parameters": {"type": "object", "properties": {}}, ` + rest + `}]`
	}
	sections := []string{
		`"linux": {"automation": "dbus", "tools": ` + tool(`"service": "org.example.X", "object": "/", "interface": "org.example.X", "method": "Go"`) + `}`,
		`"macos": {"automation": "applescript", "tools": ` + tool(`"script": "do shell script \"id\""`) + `}`,
		`"windows": {"automation": "com", "progid": "WScript.Shell", "tools": ` + tool(`"script": [{"action": "create", "var": "sh", "progid": "WScript.Shell"}, {"action": "call", "object": "sh", "method": "Run", "args": ["calc"]}]`) + `}`,
		`"web": {"automation": "http", "base_url": "https://api.example.com", "tools": ` + tool(`"path": "/go", "method": "GET"`) + `}`,
	}
	w := newWorld(t)
	w.serveDescriptor(`{"schema_version": "1.0", "version": "1.0.0", "appId": "com.example.all", "name": "All", "description": "d", "platforms": {` + strings.Join(sections, ",") + `}}`)
	app := w.find(w.host)
	if app.Platform != "web" || len(app.Tools) != 1 || app.Tools[0].Run == nil {
		t.Errorf("the app is for %s: %+v", app.Platform, app.Tools[0])
	}
	if len(w.others.kinds) > 0 || fmt.Sprint(w.http.kinds) != "[web/http]" {
		t.Errorf("the drivers were shown %q and %q", w.others.kinds, w.http.kinds)
	}
}

// Facts, row 23: no host leads out of the cache.
func TestRow23CachePath(t *testing.T) {
	w := newWorld(t)
	outside := t.TempDir()
	must(t, os.MkdirAll(w.config.Cache, 0o700))
	must(t, os.Symlink(outside, filepath.Dir(w.file("x"))))
	w.find(w.host) // it works, without a cache
	left, err := os.ReadDir(outside)
	assert.NilError(t, err)
	assert.Assert(t, is.Len(left, 0))
	// It does not read outside either.
	must(t, os.WriteFile(filepath.Join(outside, "aai.json"), []byte(notes), 0o600))
	w.restart()
	w.find(w.host)
	w.wasAsked(2)
}

// TestCacheFollowsNoLinks checks that a link in place of a copy is replaced, and not followed for
// reading or writing.
func TestCacheFollowsNoLinks(t *testing.T) {
	w := newWorld(t)
	w.find(w.host)
	outside := filepath.Join(t.TempDir(), "precious")
	must(t, os.WriteFile(outside, []byte(notes), 0o600))
	must(t, os.Remove(w.file("aai.json")))
	must(t, os.Symlink(outside, w.file("aai.json")))
	w.serveDescriptor(replaced("Keeps notes.", "Keeps more notes."))
	w.restart()
	assert.Check(t, is.Equal(w.find(w.host).Description, "Keeps more notes."), "the link was read")
	b, err := os.ReadFile(outside)
	assert.NilError(t, err, "%q", b)
	assert.Equal(t, string(b), notes, "%q", b)
	info, err := os.Lstat(w.file("aai.json"))
	assert.NilError(t, err, info)
	assert.Assert(t, info.Mode().IsRegular(), "the copy is %v, %v", info, err)
}

// Facts, row 24: a copy that is not what was fetched is fetched again.
func TestRow24SwappedCopies(t *testing.T) {
	edit := func(change func(m map[string]any)) func(w *world) {
		return func(w *world) {
			b, err := os.ReadFile(w.file("aai.json.meta"))
			must(w.t, err)
			var m map[string]any
			must(w.t, json.Unmarshal(b, &m))
			change(m)
			b, err = json.Marshal(m)
			must(w.t, err)
			must(w.t, os.WriteFile(w.file("aai.json.meta"), b, 0o600))
		}
	}
	write := func(name, content string) func(w *world) {
		return func(w *world) { must(w.t, os.WriteFile(w.file(name), []byte(content), 0o600)) }
	}
	swapped := replaced("Keeps notes.", "Keeps your mail.")
	for _, test := range []struct {
		name   string
		tamper func(w *world)
	}{
		{"another descriptor", write("aai.json", swapped)},
		{"half a descriptor", write("aai.json", notes[:100])},
		{"no descriptor", func(w *world) { must(w.t, os.Remove(w.file("aai.json"))) }},
		{"a folder", func(w *world) {
			must(w.t, os.Remove(w.file("aai.json")))
			must(w.t, os.Mkdir(w.file("aai.json"), 0o700))
		}},
		{"no meta", func(w *world) { must(w.t, os.Remove(w.file("aai.json.meta"))) }},
		{"empty meta", write("aai.json.meta", "")},
		{"meta of another form", write("aai.json.meta", "[1]")},
		{"huge meta", write("aai.json.meta", strings.Repeat(" ", 9<<10)+"{}")},
		{"fetched from elsewhere", edit(func(m map[string]any) { m["source_url"] = "https://evil.example/.well-known/aai.json" })},
		{"fetched in the future", edit(func(m map[string]any) { m["fetched_at"] = "2999-01-01T00:00:00Z" })},
		{"fetched never", edit(func(m map[string]any) { delete(m, "fetched_at") })},
		{"fetched long ago, good for ever", edit(func(m map[string]any) { m["fetched_at"] = "2020-01-01T00:00:00Z"; m["ttl_seconds"] = int64(1) << 62 })},
		{"a header in the ETag", edit(func(m map[string]any) { m["etag"] = "x\r\nCookie: y" })},
		{"short sum", edit(func(m map[string]any) { m["sha256"] = "00" })},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			w.find(w.host)
			w.requests()
			test.tamper(w)
			w.restart()
			assert.Check(t, is.Equal(w.find(w.host).Description, "Keeps notes."))
			w.wasAsked(1)
		})
	}
}

// TestNoFolderForTheCache checks that lookups work without a cache.
func TestNoFolderForTheCache(t *testing.T) {
	w := newWorld(t)
	must(t, os.MkdirAll(filepath.Dir(w.config.Cache), 0o700))
	must(t, os.WriteFile(w.config.Cache, nil, 0o600))
	w.find(w.host)
	w.find(w.host)
	w.wasAsked(1)
}

func FuzzMeta(f *testing.F) {
	f.Add([]byte(`{"fetched_at":"2026-02-24T10:00:00Z","ttl_seconds":86400,"source_url":"https://notion.so/.well-known/aai.json","sha256":"` + strings.Repeat("0", 64) + `"}`))
	f.Add([]byte(`{"fetched_at":"9999-12-31T23:59:59.999999999+14:00","ttl_seconds":-9223372036854775808,"etag":"\u0000"}`))
	f.Fuzz(func(t *testing.T, b []byte) { discovery.CheckMeta(t, b) })
}

func FuzzFolder(f *testing.F) {
	for _, host := range []string{"example.com", "example.com:8443", "[2606:4700::1111]:8443", "127.0.0.1", "xn--bcher-kva.example", "con", "a.b.c.d.e"} {
		f.Add(host, "example.com_8443")
	}
	f.Fuzz(func(t *testing.T, a, b string) { discovery.CheckFolders(t, a, b) })
}
