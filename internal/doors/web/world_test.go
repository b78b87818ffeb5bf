package web_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/audit"
	"github.com/gybob/aai-gateway/internal/audit/kept"
	"github.com/gybob/aai-gateway/internal/automation/undo"
	"github.com/gybob/aai-gateway/internal/builtin"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/catalog/desktopentry"
	"github.com/gybob/aai-gateway/internal/doors/web"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/gateway/active"
	"github.com/gybob/aai-gateway/internal/oauth"
	"github.com/gybob/aai-gateway/internal/policy"
	"github.com/gybob/aai-gateway/internal/secrets"
)

// A world is a door in front of the real packages, and a browser.
type world struct {
	*visitor
	gateway     *gateway.Gateway
	door        *web.Door
	link        string
	journal     string // the file of it
	address     string // the address of the listener
	state       string // the folder of the state, and the person's home
	store       policy.Store
	screenshots *kept.ResultStore // of screenshots
	logins      *oauth.Authorizer
	secrets     *secrets.Vault
	config      web.Config // of the door
	leases      *active.LeaseStore
}

// newWorld opens a door with the gateway's own app and further apps. All their tools are allowed except
// those called "ask". The visitor has not logged in.
func newWorld(t *testing.T, apps ...*aai.App) *world {
	t.Helper()
	state := t.TempDir()
	record, store := audit.New(filepath.Join(state, "audit.jsonl")), policy.NewFileStore(filepath.Join(state, "consent.json"))
	t.Cleanup(func() { _ = record.Close() })
	var known *catalog.Catalog
	modes := &policy.ModeGate{Path: filepath.Join(state, "mode")}
	room := newSettingsEditor(t, state)
	w := &world{state: state, journal: record.Path(), gateway: new(gateway.Gateway)}
	halts := publishing(t, state, w.gateway)
	w.leases = &active.LeaseStore{Folder: filepath.Join(state, "leases"), Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return time.Unix(1_800_000_000, 0) }}
	w.store = store
	revocations := policy.NewRevocations(filepath.Join(state, "revoked"))
	w.screenshots = kept.NewResultStore(kept.ResultConfig{Folder: filepath.Join(state, "pictures"), Apps: []string{"*"}, MaxAge: time.Hour, MaxBytes: kept.MaxScreenshotBytes})
	w.secrets = secrets.New(secrets.Config{Folder: filepath.Join(state, "secrets"), Getenv: func(string) string { return "/nonexistent" }, AllowInsecureFile: true})
	logins := oauth.New(oauth.Config{Client: http.DefaultClient, Secrets: w.secrets})
	t.Cleanup(func() { _ = logins.Close() })
	w.logins = logins
	pictured := desktopentry.NewIconFinder(desktopentry.IconConfig{EntryFolders: []string{filepath.Join(state, "share", "applications")}})
	done := undo.NewLog(undo.Config{})
	w.gateway.MutationObserver = done
	more := slices.Concat(halts.Tools(), room.Tools(), pictured.Tools(), []*aai.Tool{clockDoctor(state), active.NewActiveTool(filepath.Join(state, "running"), halts, w.leases), kept.NewScreenshotStore(kept.ScreenshotConfig{Results: w.screenshots}).Tool(), done.BuiltinTool(w.gateway.Do)}, w.recordingTools(), desktopTools(t))
	self := builtin.NewApp(builtin.Dependencies{Journal: record, Store: store, Modes: modes, Revocations: revocations, ExtraTools: more, Logins: logins, Web: noSites{}, DiscoverLocal: integrationsOfComputer}, func() builtin.Catalog { return known })
	known = catalog.New(catalog.Config{Places: []catalog.Place{catalog.Folders(w.descriptors())}, HostPlatform: "linux", Builtin: append(apps, self)})
	var grants []policy.Grant
	for _, app := range apps {
		for _, tool := range app.Tools {
			if tool.Name != "ask" {
				grants = append(grants, policy.Grant{Caller: policy.Wildcard, App: app.ID, Tool: tool.Name, Decision: policy.Allow})
			}
		}
	}
	w.gateway.Catalog, w.gateway.Journal, w.gateway.Gates = known, record, []aai.Gate{
		policy.NewBuiltinGate(policy.BuiltinConfig{AgentTools: builtin.AgentTools(), PersonDoors: []string{aai.DoorCLI, aai.DoorWeb}, IsNarrowing: room.NarrowingCheck(narrows(builtin.NarrowingCheck(store, modes)))}),
		policy.NewConsent(policy.ConsentConfig{Store: store, Preapproved: grants, Revocations: revocations}),
	}
	w.config = web.Config{Gateway: w.gateway, WatchEvents: func(ctx context.Context, tell func(string)) {
		files := map[string]string{
			filepath.Join(state, "audit.jsonl"): web.EventJournal, filepath.Join(state, "consent.json"): web.EventConsent,
			filepath.Join(state, "halt"): web.EventActiveCalls, filepath.Join(state, "running"): web.EventActiveCalls,
		}
		assert.Check(t, atomicfile.Watch(ctx, files, tell))
	}}
	w.open(t, w.config)
	return w
}

// descriptors returns the folder of the descriptors.
func (w *world) descriptors() string { return filepath.Join(w.state, "descriptors") }

// addDescriptor writes a descriptor into a folder of its own. It must come before the first request.
func (w *world) addDescriptor(t *testing.T, id, text string) {
	t.Helper()
	folder := filepath.Join(w.descriptors(), id)
	assert.NilError(t, os.MkdirAll(folder, 0o700))
	assert.NilError(t, os.WriteFile(filepath.Join(folder, catalog.FileName), []byte(text), 0o600))
}

// open opens the door with a new visitor.
func (w *world) open(t *testing.T, cfg web.Config) {
	t.Helper()
	var err error
	w.door, err = web.New(cfg)
	assert.NilError(t, err)
	l, err := w.door.Listen(t.Context(), 0)
	assert.NilError(t, err)
	w.link, w.address = w.door.Link(), l.Addr().String()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.door.Serve(ctx, l) }()
	t.Cleanup(func() { cancel(); <-ended })
	w.visitor = w.newVisitor(t)
}

// enter logs in by the link.
func (w *world) enter(t *testing.T) {
	t.Helper()
	got := w.post(t, w.link, nil)
	assert.Equal(t, got.status, http.StatusOK, "the link does not let in: %d\n%s", got.status, got.body)
}

// origin returns the origin of the door's pages.
func (w *world) origin() string { return w.link[:strings.Index(w.link, "/enter/")] }

// A visitor is a browser with its own cookies.
type visitor struct {
	client *http.Client
	world  *world
}

func (w *world) newVisitor(t *testing.T) *visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	assert.NilError(t, err)
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, w.address) // as browsers resolve names below localhost
	}
	transport := &http.Transport{DialContext: dial}
	t.Cleanup(transport.CloseIdleConnections)
	return &visitor{client: &http.Client{Jar: jar, Transport: transport}, world: w}
}

// An answer is the answer to a visitor's request.
type answer struct {
	status int
	header http.Header
	body   string
	at     string // the final address
}

// do sends a request with its headers.
func (v *visitor) do(t *testing.T, r *http.Request) answer {
	t.Helper()
	response, err := v.client.Do(r)
	assert.NilError(t, err)
	defer func() { _ = response.Body.Close() }()
	b, err := io.ReadAll(response.Body)
	assert.NilError(t, err)
	return answer{response.StatusCode, response.Header, string(b), response.Request.URL.Path}
}

// get loads a page by its path.
func (v *visitor) get(t *testing.T, path string) answer {
	t.Helper()
	return v.do(t, v.request(t, http.MethodGet, path, nil))
}

// post sends a form as a page of the door does.
func (v *visitor) post(t *testing.T, path string, form url.Values) answer {
	t.Helper()
	r := v.request(t, http.MethodPost, path, form)
	r.Header.Set("Origin", v.world.origin())
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	return v.do(t, r)
}

// request makes a request for a path, or a whole address.
func (v *visitor) request(t *testing.T, method, path string, form url.Values) *http.Request {
	t.Helper()
	if strings.HasPrefix(path, "/") {
		path = v.world.origin() + path
	}
	r, err := http.NewRequestWithContext(t.Context(), method, path, strings.NewReader(form.Encode()))
	assert.NilError(t, err)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return r
}

// form returns the common fields of a page's forms.
func (v *visitor) form(t *testing.T, path string) url.Values {
	t.Helper()
	body := v.get(t, path).body
	_, after, found := strings.Cut(body, `name="csrf" value="`)
	token, _, _ := strings.Cut(after, `"`)
	assert.Assert(t, found, "%s has no form:\n%s", path, body)
	return url.Values{"csrf": {token}}
}

// history reads the journal.
func (w *world) history(t *testing.T, into any) error {
	t.Helper()
	who := aai.Caller{Door: aai.DoorCLI, Name: "terminal", Identity: aai.IdentityTerminal}
	result, err := w.gateway.Do(t.Context(), &aai.Call{Caller: who, App: aai.BuiltinApp, Tool: "history"})
	if err != nil {
		return err
	}
	b, err := json.Marshal(result.Data)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, into)
}

// query encodes a parameter of an address.
func query(name, value string) string { return url.Values{name: {value}}.Encode() }

// calls makes a call of an agent with the name.
func (w *world) calls(t *testing.T, name string) {
	t.Helper()
	agent := aai.Caller{Door: aai.DoorMCP, Name: name, Identity: "/usr/bin/" + name}
	_, err := w.gateway.Do(t.Context(), &aai.Call{Caller: agent, App: aai.BuiltinApp, Tool: "apps"})
	assert.Check(t, err)
}
