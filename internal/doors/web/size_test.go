package web_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/audit"
)

// maxPageBytes limits a page with all that it loads, on the wire, in bytes.
const maxPageBytes = 60 << 10

// TestTheFirstLoadIsSmall checks that each page of a used gateway, with style, scripts and images, is
// small enough on the wire.
func TestTheFirstLoadIsSmall(t *testing.T) {
	apps := []*aai.App{mail(tool("send", kinds, nil))}
	for i := range 20 {
		app := &aai.App{ID: fmt.Sprint("org.test.App", i), Name: fmt.Sprint("App ", i), Description: "Writes down what is to be remembered, and finds it again", Digest: strings.Repeat("1", 64), Platform: "linux"}
		for j := range 12 {
			one := tool(fmt.Sprint("tool_", j), kinds, nil)
			one.Description = "Does something of which a sentence is said"
			app.Tools = append(app.Tools, one)
		}
		apps = append(apps, app)
	}
	w, _ := appWorld(t, apps...)
	for range 60 {
		w.calls(t, "claude-desktop")
	}
	before := audit.New(w.journal) // calls in every hour of a week
	for i := range 200 {
		assert.NilError(t, before.Record(t.Context(), &aai.Entry{
			Kind: aai.Outcome, Time: time.Now().Add(-time.Duration(i) * time.Hour), Call: fmt.Sprint("h", i), Caller: claude(), App: "org.test.Mail", Tool: "send",
			Admitted: true, Elapsed: time.Duration(i) * time.Millisecond,
		}))
	}
	assert.NilError(t, before.Close())
	w.makeCall(t, "c1", "", claude(), aai.BuiltinApp, "guide", map[string]any{"app": "aai"})
	for i := range 30 {
		w.makeCall(t, "", "c1", claude(), aai.BuiltinApp, "apps", map[string]any{"i": i})
	}
	w.post(t, "/doctor/run", w.form(t, "/doctor"))
	for !strings.Contains(w.get(t, "/doctor").body, "<table") {
	}
	for _, path := range []string{
		"/now", "/events", "/apps", "/app?app=org.test.Mail", "/app?app=org.test.App3", "/app?app=aai", "/tool?app=org.test.Mail&tool=send", "/found",
		"/history", "/history/c1", "/history/charts", "/history/charts?days=7", "/consent", "/logins", "/settings", "/settings/logLevel", "/doctor", "/recordings",
	} {
		for _, lang := range []string{"en", "zh"} {
			page := w.in(t, lang, path)
			assert.Assert(t, page.status == http.StatusOK || path == "/found", "%s %d %s", path, page.status, page.body)
			size := len(page.body)
			for _, found := range regexp.MustCompile(`(?:href|src)="((?:/static|/picture)/[^"]+)"`).FindAllStringSubmatch(page.body, -1) {
				size += w.loaded(t, found[1])
			}
			t.Logf("%s in %s: %d bytes, of which the page has %d", path, lang, size, len(page.body))
			assert.Check(t, size <= maxPageBytes, "the first load of %s in %s has %d bytes", path, lang, size)
		}
	}
}

// loaded returns the bytes on the wire of all that a page loads. Static files are compressed, and
// cached by browsers.
func (w *world) loaded(t *testing.T, path string) int {
	t.Helper()
	r := w.request(t, http.MethodGet, path, nil)
	r.Header.Set("Accept-Encoding", "gzip")
	got := w.do(t, r)
	if strings.HasPrefix(path, "/picture/") {
		return len(got.body)
	}
	assert.Check(t, is.Equal(got.header.Get("Content-Encoding"), "gzip"), "%s %v", path, got.header)
	assert.Check(t, is.Contains(got.header.Get("Cache-Control"), "immutable"), "%s %v", path, got.header)
	z, err := gzip.NewReader(strings.NewReader(got.body))
	assert.NilError(t, err)
	_, err = io.Copy(io.Discard, z)
	assert.Check(t, err, path)
	return len(got.body)
}
