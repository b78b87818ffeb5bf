package gui_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// TestRealFirstLook: the first read of a browser waits for a loading page, and reports a page that
// stays empty.
func TestRealFirstLook(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	comes := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		<-comes
		_, _ = rw.Write([]byte(`<!DOCTYPE html><html lang="en"><title>Slow</title><button>Go on</button>`))
	}))
	t.Cleanup(server.Close)
	app := w.process(w.Launch(w.T, "chromium", "--force-renderer-accessibility", "--disable-backgrounding-occluded-windows", "--no-sandbox", "--test-type",
		"--no-first-run", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update",
		"--password-store=basic", "--lang=en", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
		"--user-data-dir="+filepath.Join(w.Home, "browser"), "--window-size=900,700", server.URL))
	a := w.ok("ax_get_tree", params{"app": app})
	w.says(a.Warning, "its page is empty so far")
	time.AfterFunc(time.Second, func() { close(comes) })
	w.eventually("the page is told", func() bool {
		a := w.ok("ax_get_tree", params{"app": app})
		assert.Check(t, strings.Contains(a.Text, "Go on") != (a.Warning != ""), "%s %q", a.Text, a.Warning)
		return a.Warning == ""
	})
}
