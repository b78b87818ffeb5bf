package discovery_test

import (
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/catalog/discovery"
	"github.com/gybob/aai-gateway/internal/netguard"
)

func TestMain(m *testing.M) {
	if address := os.Getenv(otherVariable); address != "" {
		runOtherGateway(address)
		return
	}
	goleak.VerifyTestMain(m)
}

// notes is a site's descriptor.
const notes = `{
  "schema_version": "1.0", "version": "1.0.0", "platform": "web",
  "app": {"id": "com.example.notes", "name": "Notes", "description": "Keeps notes.", "aliases": ["jotter"]},
  "execution": {"type": "http", "base_url": "https://api.example.com/v1"},
  "tools": [
    {"name": "add", "description": "Add a note", "execution": {"path": "/notes", "method": "POST"},
     "parameters": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}},
    {"name": "list", "description": "List the notes", "execution": {"path": "/notes", "method": "GET"},
     "parameters": {"type": "object", "properties": {}}}
  ]}`

// calculator is an app of this computer.
const calculator = `{"schema_version": "1.0", "version": "1.0.0", "appId": "org.example.Calculator", "name": "Calculator", "description": "Calculates.",
  "aliases": ["sums", "example.org"],
  "platforms": {"linux": {"automation": "dbus", "tools": [{"name": "add", "description": "Adds", "service": "org.example.Calculator",
    "object": "/", "interface": "org.example.Calculator", "method": "Add", "parameters": {"type": "object", "properties": {}}}]}}}`

// A spy is a driver that records its recipes.
type spy struct {
	mu    sync.Mutex
	kinds []string
}

func (s *spy) Compile(r *aai.Recipe) (aai.Action, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kinds = append(s.kinds, r.Platform+"/"+r.Kind)
	return func(_ context.Context, call *aai.Call) (*aai.Result, error) {
		return &aai.Result{Text: "ran " + call.Tool}, nil
	}, nil
}

// A world is a computer with an app, a site, and the network between them.
type world struct {
	t      *testing.T
	server *httptest.Server
	host   string // of the site: "127.0.0.1:port"
	local  *catalog.Catalog
	web    *discovery.WebCatalog
	config discovery.WebConfig
	http   *spy // the driver for HTTP
	others *spy // every other driver

	mu    sync.Mutex
	clock time.Time
	serve http.HandlerFunc
	asked []*http.Request
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, http: &spy{}, others: &spy{}, clock: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	w.serveDescriptor(notes)
	w.server = httptest.NewTLSServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		w.asked = append(w.asked, r)
		serve := w.serve
		w.mu.Unlock()
		serve(rw, r)
	}))
	t.Cleanup(w.server.Close)
	w.host = w.server.Listener.Addr().String()

	home := t.TempDir()
	drivers := map[string]aai.Driver{"http": w.http, "web/http": w.http}
	for _, kind := range []string{"dbus", "ipc", "applescript", "jxa", "com", "intent", "url_scheme", "linux/dbus", "linux/ipc", "web/ipc", "web/dbus", "linux/http"} {
		drivers[kind] = w.others
	}
	w.local = catalog.New(catalog.Config{Places: []catalog.Place{catalog.Folders(filepath.Join(home, ".aai"))}, HostPlatform: "linux"})
	w.config = discovery.WebConfig{
		LocalCatalog: w.local, Client: w.client(w.host), Drivers: drivers, Now: w.now,
		Cache: filepath.Join(home, ".cache", "aai-gateway"), Names: filepath.Join(home, ".config", "aai-gateway", "name-cache.json"),
	}
	w.install("org.example.Calculator", calculator)
	w.restart()
	return w
}

// install writes a descriptor to this computer, before the first query.
func (w *world) install(id, text string) {
	folder := filepath.Join(filepath.Dir(filepath.Dir(w.config.Cache)), ".aai", id)
	must(w.t, os.MkdirAll(folder, 0o700))
	must(w.t, os.WriteFile(filepath.Join(folder, "aai.json"), []byte(text), 0o600))
}

// client returns a client that trusts the hosts.
func (w *world) client(hosts ...string) *netguard.Client {
	pool := x509.NewCertPool()
	pool.AddCert(w.server.Certificate())
	c := netguard.New(netguard.Config{AllowPrivate: hosts, RootCAs: pool})
	w.t.Cleanup(c.Close)
	return c
}

// restart is a new process with the same folders.
func (w *world) restart() { w.web = discovery.NewWebCatalog(w.config) }

func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.clock
}

func (w *world) advance(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clock = w.clock.Add(d)
}

// serveDescriptor sets the site's response: a descriptor, with headers such as "ETag: x".
func (w *world) serveDescriptor(body string, headers ...string) {
	w.answers(func(rw http.ResponseWriter, _ *http.Request) {
		for _, h := range headers {
			name, value, _ := strings.Cut(h, ": ")
			rw.Header().Add(name, value)
		}
		_, _ = io.WriteString(rw, body)
	})
}

func (w *world) answers(h http.HandlerFunc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.serve = h
}

// status makes the site respond only with the code.
func (w *world) status(code int) {
	w.answers(func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(code) })
}

// breakConnections makes the site break every connection.
func (w *world) breakConnections() {
	w.answers(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
}

// requests returns the number of requests to the site, and resets it.
func (w *world) requests() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := len(w.asked)
	w.asked = nil
	return n
}

// wasAsked checks the number of requests to the site since the last check.
func (w *world) wasAsked(times int) {
	w.t.Helper()
	assert.Check(w.t, is.Equal(w.requests(), times), "requests to the site")
}

// findFails checks that no app is found, for the reason with the code, and returns the error.
func (w *world) findFails(name string, code aai.Code) *aai.Error {
	w.t.Helper()
	_, err := w.web.Find(w.t.Context(), name)
	assert.Assert(w.t, err != nil, name)
	assert.Equal(w.t, aai.AsError(err).Code, code, "%q %v", name, err)
	return aai.AsError(err)
}

func (w *world) find(name string) *aai.App {
	w.t.Helper()
	app, err := w.web.Find(w.t.Context(), name)
	if err != nil {
		w.t.Fatalf("%s: %v (%v)", name, err, aai.AsError(err).Err)
	}
	return app
}

// fails checks that an address is rejected with the code, and returns the error.
func (w *world) fails(address string, code aai.Code) *aai.Error {
	w.t.Helper()
	app, err := w.web.Discover(w.t.Context(), address)
	if err == nil {
		w.t.Fatalf("%s: found %s", address, app.ID)
	}
	e := aai.AsError(err)
	assert.Equal(w.t, e.Code, code, "%s %v %q %v", address, e, e.Hint, e.Err)
	assert.Assert(w.t, e.Hint != "", "%s: %v (hint %q, cause %v), want %s", address, e, e.Hint, e.Err, code)
	return e
}

func (w *world) ids() []string {
	var ids []string
	for _, app := range w.web.Apps() {
		ids = append(ids, app.ID)
	}
	assert.Check(w.t, slices.IsSorted(ids), "not in order: %q", ids)
	return ids
}

// file returns the path of a file in the cache.
func (w *world) file(name string) string {
	return filepath.Join(w.config.Cache, strings.ReplaceAll(w.host, ":", "_"), name)
}

func must(t *testing.T, err error) {
	t.Helper()
	assert.NilError(t, err)
}

// replaced returns the descriptor of the site with one change.
func replaced(old, by string) string {
	if !strings.Contains(notes, old) {
		panic(fmt.Sprintf("there is no %s in it", old))
	}
	return strings.Replace(notes, old, by, 1)
}

// untrustingClient returns a client that does not know the site's authority.
func (w *world) untrustingClient() *netguard.Client {
	c := netguard.New(netguard.Config{AllowPrivate: []string{w.host}})
	w.t.Cleanup(c.Close)
	return c
}
