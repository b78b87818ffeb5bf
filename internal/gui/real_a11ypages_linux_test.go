package gui_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// TestRealPageLanguage: an audit finds a page without a language and a skipped level of headings, in Chromium by DevTools
// and in Firefox, and nothing in the same page with both.
func TestRealPageLanguage(t *testing.T) {
	t.Parallel()
	page := func(language, heading string) string {
		return fmt.Sprintf(`<!DOCTYPE html><html %s><title>Prices</title><main><h1>Prices</h1><%s>Large</%[2]s><p>Words</p><button style="padding:12px">Ready</button></main>`, language, heading)
	}
	fault := map[string]string{"Chromium": "data-no", "Firefox": "lang=e"}
	problem := map[string]string{"Chromium": "it declares no language", "Firefox": `"e" is no language`}
	for browser, open := range map[string]func(w *realWorld, host string) *linuxtest.App{
		"Chromium": func(w *realWorld, host string) *linuxtest.App {
			w.useDevTools()
			return w.browse(host, "--app=http://"+host)
		},
		"Firefox": func(w *realWorld, host string) *linuxtest.App {
			return w.firefox(filepath.Join(w.Home, "firefox"), "http://"+host)
		},
	} {
		for _, c := range []struct{ language, heading, want string }{
			{fault[browser], "h3", "page-language: " + problem[browser] + "; heading-level: it has the level 3 after one of the level 1"},
			{"lang=en", "h2", ""},
		} {
			t.Run(browser+" "+c.language, func(t *testing.T) {
				t.Parallel()
				w := newRealWorld(t)
				server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write([]byte(page(c.language, c.heading))) }))
				w.Cleanup(server.Close)
				app := w.process(open(w, server.Listener.Addr().String()))
				w.connect()
				w.awaitElement(app, "button Ready")
				a := w.ok("ax_a11y_audit", params{"app": app})
				var found []string
				for _, i := range at(a.data, "issues").([]any) { //nolint:forcetypeassert // the schema says so
					issue, _ := i.(map[string]any)
					found = append(found, fmt.Sprint(issue["rule"], ": ", issue["description"]))
				}
				if got := strings.Join(found, "; "); got != c.want {
					t.Errorf("found %q, want %q\n%s", got, c.want, a.Text)
				}
			})
		}
	}
}

// TestRealAuditOfLoadingPage: while a page loads, an audit says so and judges neither it nor the browser's own controls;
// afterwards it finds the page's fault.
func TestRealAuditOfLoadingPage(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow.js" {
			select {
			case <-release:
			case <-r.Context().Done():
			}
			return
		}
		_, _ = rw.Write([]byte(`<!DOCTYPE html><html lang=en><title>Slow</title><main><h1>Slow</h1><script src=/slow.js></script><button style="padding:12px">Ready</button><input></main></html>`))
	}))
	w.Cleanup(server.Close)
	app := w.process(w.Browser(t, server.URL))
	_, err := w.do(w.Context(), "ax_a11y_audit", params{"app": app})
	assert.Assert(t, err != nil, "while it loads: %v", err)
	assert.Assert(t, is.Contains(err.Error(), "no page that has loaded"), err)
	close(release)
	w.awaitElement(app, "button Ready")
	a := w.ok("ax_a11y_audit", params{"app": app})
	assert.Assert(t, is.Contains(a.Text, "1 issues"))
	assert.Assert(t, is.Contains(a.Text, "field-label"))
}
