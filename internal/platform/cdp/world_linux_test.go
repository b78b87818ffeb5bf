package cdp_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/devtools"
	"github.com/gybob/aai-gateway/internal/platform/cdp"
	"github.com/gybob/aai-gateway/internal/platform/linux/atspi"
	"github.com/gybob/aai-gateway/internal/platform/linux/x11"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// A world is a private desktop with a connected Chromium on it.
type world struct {
	*linuxtest.Session
	server   *httptest.Server
	pages    map[string]string // by path
	platform desktop.Backend   // the platform's own
	backend  desktop.Backend   // with DevTools
	browsers *devtools.Browsers
	app      desktop.App
}

// newWorld opens the page in a Chromium and connects to it.
func newWorld(t *testing.T, page string, switches ...string) *world {
	t.Helper()
	w := &world{Session: linuxtest.StartAccessible(t), pages: map[string]string{"/": page}}
	w.server = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			time.Sleep(300 * time.Millisecond)
		}
		out.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = fmt.Fprint(out, w.pages[r.URL.Path])
	}))
	t.Cleanup(w.server.Close)
	screen := x11.New(x11.Config{Getenv: w.Getenv, InputLock: inputlock.New(inputlock.Config{Folder: inputlock.Folder, Getenv: w.Getenv})})
	tree := atspi.New(atspi.Config{Getenv: w.Getenv, Windows: screen})
	t.Cleanup(func() {
		tree.Close()
		_ = screen.Close()
	})
	w.platform = desktop.Backend{Tree: tree, Offscreen: tree, Documents: tree, Actor: tree, Events: tree, Windows: screen, Input: screen, Screen: screen}
	profile := t.TempDir()
	a := w.Launch(t, "chromium", append(switches, "--ozone-platform=x11", "--disable-features=CalculateNativeWinOcclusion,Translate", "--no-sandbox", "--no-first-run",
		"--no-default-browser-check", "--test-type", "--remote-debugging-port=0", "--user-data-dir="+profile, "--password-store=basic", "--lang=en", "--disable-gpu",
		"--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions", "--window-size=900,700",
		"--host-resolver-rules=MAP other.test 127.0.0.1", "--site-per-process", w.server.URL+"/")...)
	var endpoint devtools.Endpoint
	until(t, func() bool {
		for _, e := range devtools.Find(func(string) string { return "/nonexistent" }) {
			if e.Profile == profile {
				endpoint = e
			}
		}
		return endpoint.PID == a.PID
	})
	w.browsers = devtools.New(devtools.Config{Find: func() []devtools.Endpoint { return []devtools.Endpoint{endpoint} }, AllowFile: filepath.Join(t.TempDir(), "browsers.json")})
	t.Cleanup(func() { _ = w.browsers.Close() })
	w.backend = cdp.Wrap(w.platform, w.browsers, slog.New(slog.NewTextHandler(t.Output(), nil)))
	assert.NilError(t, w.browsers.Connect(t.Context(), endpoint))
	until(t, func() bool {
		apps, err := w.backend.Tree.Apps(t.Context())
		assert.NilError(t, err)
		for _, app := range apps {
			if app.PID == a.PID {
				w.app = app
			}
		}
		return w.app.PID != 0
	})
	return w
}

func (w *world) snapshot(t *testing.T, b desktop.Backend) *desktop.Snapshot {
	t.Helper()
	s, err := b.Tree.Snapshot(t.Context(), w.app)
	assert.NilError(t, err)
	return s
}

func until(t *testing.T, is func() bool) {
	t.Helper()
	if !within(is) {
		t.Fatal("it did not come to be")
	}
}

// within reports whether the condition becomes true in a minute.
func within(is func() bool) bool {
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}
