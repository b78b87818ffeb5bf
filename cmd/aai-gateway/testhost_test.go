package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/godbus/dbus/v5"
	"github.com/rogpeppe/go-internal/testscript"
	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/bench/shop"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/doors/cli"
	"github.com/gybob/aai-gateway/internal/files/userinfo"
	"github.com/gybob/aai-gateway/internal/policy"
	"github.com/gybob/aai-gateway/internal/policy/reauth"
)

// testHost is the host access for tests of other things: the given home is the account's, the
// session is the environment's, and a user has confirmed its settings. The released program
// contains none of it.
func testHost(getenv func(string) string) hostAccess {
	return hostAccess{
		home:       func() string { return getenv("HOME") },
		session:    func(getenv func(string) string) func(string) string { return getenv },
		confirmed:  func(reauth.Setting) aai.Channel { return aai.DesktopDialog },
		checkOwned: userinfo.CheckOwned,
	}
}

// testBinaryHost is the host access of this test binary as the program: PERSON=yes is a user who
// approves changes of the gateway, STRICT=1 is as released, except for the account's home; WHOLE=1
// also checks for isolation; MAC is the folder of the system programs of a Mac, which the program takes this computer for.
func testBinaryHost() hostAccess {
	g := testHost(os.Getenv)
	if os.Getenv("STRICT") != "" {
		g.confirmed, g.policy = nil, func() ([]byte, error) {
			b, err := os.ReadFile(os.Getenv("POLICY"))
			if errors.Is(err, os.ErrNotExist) {
				return nil, nil
			}
			return b, err
		}
	}
	if os.Getenv("WHOLE") != "" {
		g.isolationFault = userinfo.CheckUserNamespace
	}
	if folder := os.Getenv("MAC"); folder != "" {
		g.platform = macPlatform(folder)
	}
	if os.Getenv("PERSON") == "yes" {
		g.person = func() (policy.Authenticator, aai.Asker) { return agreeingPerson{}, agreeingPerson{} }
	}
	return g
}

// macPlatform returns the platform of a Mac whose system programs are in a folder.
func macPlatform(programs string) func(string, func(string) string) platform {
	return func(home string, getenv func(string) string) platform {
		p := hostPlatform(home, getenv)
		return platform{
			name: "macos", screen: p.screen, data: p.data, cache: p.cache, siteNamesFile: p.siteNamesFile,
			descriptorPlaces: func(cfg *setup) []catalog.Place { return folders(cfg.ScanPaths) },
			drivers: func(*setup, *slog.Logger) (map[string]aai.Driver, io.Closer) {
				return appleDrivers(getenv, programs), io.NopCloser(nil)
			},
		}
	}
}

// agreeingPerson approves changes of the gateway, and answers nothing else.
type agreeingPerson struct{}

func (agreeingPerson) Method(context.Context) aai.Channel { return aai.DesktopDialog }

func (agreeingPerson) CheckPassphrase(context.Context, string) error {
	return errors.New("no passphrase was set")
}

func (agreeingPerson) Ask(_ context.Context, q aai.Question) (aai.Answer, error) {
	if q.ID != "proof" {
		return aai.Answer{}, errors.New("there is no screen")
	}
	return aai.Answer{Choice: "yes", Seal: q.Seal, Channel: aai.DesktopDialog}, nil
}

// runUserManager is a double of systemd's user manager, which cannot run in a machine: it has an
// environment, and accepts additions. It runs until it is killed.
func runUserManager() {
	conn, err := dbus.Connect(os.Getenv("DBUS_SESSION_BUS_ADDRESS"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	m := &manager{}
	if display := os.Getenv("DISPLAY"); display != "" {
		m.env = []string{"DISPLAY=" + display}
	}
	for _, iface := range []string{"org.freedesktop.DBus.Properties", "org.freedesktop.systemd1.Manager"} {
		err = errors.Join(err, conn.ExportAll(m, "/org/freedesktop/systemd1", iface))
	}
	if _, taken := conn.RequestName("org.freedesktop.systemd1", 0); errors.Join(err, taken) != nil {
		fmt.Fprintln(os.Stderr, err, taken)
		os.Exit(1)
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	<-ended
}

// manager holds the environment.
type manager struct {
	mu  sync.Mutex
	env []string
}

// Get is a method of D-Bus.
func (m *manager) Get(string, string) (dbus.Variant, *dbus.Error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return dbus.MakeVariant(slices.Clone(m.env)), nil
}

// SetEnvironment is a method of D-Bus.
func (m *manager) SetEnvironment(more []string) *dbus.Error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, variable := range more {
		name, _, _ := strings.Cut(variable, "=")
		m.env = append(slices.DeleteFunc(m.env, func(v string) bool { return strings.HasPrefix(v, name+"=") }), variable)
	}
	return nil
}

// scriptSmallShop starts the small shop.
func scriptSmallShop(ts *testscript.TestScript, _ bool, _ []string) {
	server := httptest.NewServer(shop.NewShop())
	ts.Defer(server.Close)
	ts.Setenv("API", server.URL)
}

// openPage is the scripts' program open-page: a browser with an agreeing user, redirected at once.
func openPage() {
	response, err := http.Get(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
}

// opensPages makes open-page the browser of this script only: the demo has a real one.
func opensPages(ts *testscript.TestScript) {
	folder := ts.MkAbs("bin")
	ts.Check(os.MkdirAll(folder, 0o700))
	ts.Check(os.WriteFile(filepath.Join(folder, "xdg-open"), []byte("#!/bin/sh\nexec open-page \"$@\"\n"), 0o700))
	ts.Setenv("PATH", folder+string(os.PathListSeparator)+ts.Getenv("PATH"))
}

// scriptShop starts a site with its own authorization server, and writes its descriptor. The
// script's browser agrees to everything.
func scriptShop(ts *testscript.TestScript, _ bool, args []string) {
	opensPages(ts)
	mux := http.NewServeMux()
	shop := httptest.NewServer(mux)
	ts.Defer(shop.Close)
	ts.Setenv("SHOP", shop.URL)
	answer := func(w http.ResponseWriter, v any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
	mux.HandleFunc("GET /.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{
			"issuer": shop.URL, "authorization_endpoint": shop.URL + "/authorize", "token_endpoint": shop.URL + "/token",
			"revocation_endpoint": shop.URL + "/revoke", "code_challenge_methods_supported": []string{"S256"},
		})
	})
	mux.HandleFunc("GET /authorize", func(w http.ResponseWriter, r *http.Request) {
		back := r.URL.Query()
		http.Redirect(w, r, back.Get("redirect_uri")+"?"+url.Values{"code": {"c"}, "state": {back.Get("state")}}.Encode(), http.StatusFound)
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{"access_token": "canary-token", "token_type": "Bearer", "expires_in": 3600, "refresh_token": "canary-refresh"})
	})
	mux.HandleFunc("POST /revoke", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /v1/orders", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer canary-token" {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		answer(w, map[string]any{"orders": []string{"one"}})
	})
	file := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(filepath.Dir(file), 0o700))
	descriptor, err := json.Marshal(map[string]any{
		"schema_version": "1.0", "version": "1.0.0", "platform": "web",
		"app":       map[string]any{"id": "org.example.shop", "name": "Shop", "description": "A shop."},
		"execution": map[string]any{"type": "http", "base_url": shop.URL + "/v1"},
		"auth": map[string]any{"type": "oauth2", "oauth2": map[string]any{
			"authorization_endpoint": shop.URL + "/authorize", "token_endpoint": shop.URL + "/token", "scopes": []string{"orders"}, "pkce": map[string]any{"method": "S256"},
		}},
		"tools": []any{map[string]any{"name": "orders", "description": "Lists orders.", "path": "/orders", "method": "GET"}},
	})
	ts.Check(err)
	ts.Check(os.WriteFile(file, descriptor, 0o600))
}

// grants returns preapproved permissions of every caller: an app, or an app and its tools, separated by spaces.
func grants(permissions ...string) string {
	var all []string
	for _, p := range permissions {
		app, tools, some := strings.Cut(p, " ")
		if !some {
			tools = "*"
		}
		listed, _ := json.Marshal(strings.Fields(tools))
		all = append(all, fmt.Sprintf(`{"app": %q, "tools": %s, "caller": "*", "expires": "2999-01-01T00:00:00Z"}`, app, listed))
	}
	return "[" + strings.Join(all, ", ") + "]"
}

// allowing returns a configuration with those permissions.
func allowing(permissions ...string) string {
	return `{"consent": {"preapproved": ` + grants(permissions...) + `}}`
}

// writeFile writes a file below a folder, and returns its path.
func writeFile(t *testing.T, folder, name, text string) string {
	t.Helper()
	path := filepath.Join(folder, name)
	assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	assert.NilError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// eachFile passes every regular file below a folder to look, and returns their number.
func eachFile(t *testing.T, folder string, look func(path string, content []byte)) (files int) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		files++
		content, err := os.ReadFile(path)
		look(path, content)
		return err
	})
	assert.NilError(t, err)
	return files
}

// inProcess describes a gateway in the process of the test.
type inProcess struct {
	home, config string // config is the path of a configuration file; "" is the one of the home
	getenv       func(string) string
	host         hostAccess
	change       func(*setup)
}

// build returns the gateway, which closes at the end of the test.
func (g inProcess) build(t *testing.T) *components {
	t.Helper()
	cfg, err := setUp(setupInput{getenv: g.getenv, home: g.home, platform: hostPlatform(g.home, g.getenv), flags: cli.Flags{Config: g.config}, hostAccess: g.host})
	assert.NilError(t, err)
	cfg.LogLevel = slog.LevelError
	if g.change != nil {
		g.change(cfg)
	}
	p := &program{home: g.home, getenv: g.getenv, hostAccess: g.host, in: strings.NewReader(""), out: t.Output(), err: t.Output()}
	built, err := p.build(cfg)
	assert.NilError(t, err)
	t.Cleanup(func() { assert.Check(t, built.close()) })
	return built
}
