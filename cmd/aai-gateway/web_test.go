package main

import (
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/doors/mcp"
	"github.com/gybob/aai-gateway/internal/policy"
)

// siteNotes is the descriptor of the tests' site; HOST is its host.
const siteNotes = `{
  "schema_version": "1.0", "version": "1.0.0", "platform": "web",
  "app": {"id": "com.example.notes", "name": "Not\u0435s", "description": "Keeps notes."},
  "execution": {"type": "http", "base_url": "https://HOST/v1"},
  "tools": [{"name": "add", "description": "Add a note", "execution": {"path": "/notes", "method": "POST"},
    "parameters": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}}]}`

// webWorld is the whole gateway and a site that it trusts.
type webWorld struct {
	*components
	cfg   *setup
	host  string
	asked atomic.Int64 // for its descriptor
	added atomic.Int64 // notes
	gone  atomic.Bool  // the site offers nothing
}

func newWebWorld(t *testing.T) *webWorld {
	t.Helper()
	w := &webWorld{}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/aai.json", func(rw http.ResponseWriter, _ *http.Request) {
		w.asked.Add(1)
		if w.gone.Load() {
			rw.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = io.WriteString(rw, w.says())
	})
	mux.HandleFunc("POST /v1/notes", func(rw http.ResponseWriter, _ *http.Request) {
		w.added.Add(1)
		rw.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(rw, "added")
	})
	site := httptest.NewTLSServer(mux)
	t.Cleanup(site.Close)
	w.host = site.Listener.Addr().String()
	d := newDesk(t)
	d.file(t, ".aai/config.json", fmt.Sprintf(`{"net": {"allowPrivate": [%q]}}`, w.host))
	w.components = inProcess{home: d.home, getenv: d.getenv, host: d.grounds(), change: func(cfg *setup) {
		w.cfg = cfg
		cfg.roots = x509.NewCertPool()
		cfg.roots.AddCert(site.Certificate())
		cfg.platform.desktop = nil
		cfg.hostAccess.person = func() (policy.Authenticator, aai.Asker) { return agreeingPerson{}, agreeingPerson{} }
	}}.build(t)
	return w
}

// says returns the site's descriptor.
func (w *webWorld) says() string { return strings.ReplaceAll(siteNotes, "HOST", w.host) }

// The consent question for a web app's tool shows the origin in ASCII beside the name.
func TestWebAppAsksConsent(t *testing.T) {
	w := newWebWorld(t)
	agent := aai.Caller{Door: aai.DoorMCP, Name: "claude", Identity: "/usr/bin/claude"}
	for _, name := range []string{"https://" + w.host, w.host + "/com.example.notes"} {
		call := &aai.Call{Caller: agent, App: name, Tool: "add", Args: map[string]any{"text": "x"}}
		_, err := w.gateway.Do(t.Context(), call)
		e := aai.AsError(err)
		assert.Assert(t, e != nil, "%s %v", name, err)
		assert.Equal(t, e.Code, aai.ConsentRequired, "%s %v", name, err)
		assert.Assert(t, is.Len(e.Questions, 1), "%s %v", name, err)
		question := e.Questions[0]
		id := w.host + "/com.example.notes"
		for _, line := range []string{"Web site: " + w.host + "\n", `whose app "com.example.notes"`} {
			assert.Check(t, is.Contains(question.Text, line), "the question does not say %q:\n%s", line, question.Text)
		}
		if !strings.Contains(e.Hint, "consent grant "+id+" add") || w.added.Load() != 0 {
			t.Errorf("hint %q, ran %d times", e.Hint, w.added.Load())
		}
	}
	n := w.asked.Load()
	assert.Check(t, n == 1, "the site was asked %d times", n)
}

// Consent applies to the app of that site, and to no other with its id.
func TestWebConsentIsOfOneSite(t *testing.T) {
	w := newWebWorld(t)
	person := aai.Caller{Door: aai.DoorCLI, Name: "terminal"}
	grant := &aai.Call{Caller: person, App: aai.BuiltinApp, Tool: "consent_grant",
		Args: map[string]any{"app": "https://" + w.host, "tool": "add", "caller": "mcp:claude", "identity": "/usr/bin/claude"}}
	if _, err := w.gateway.Do(t.Context(), grant); err != nil {
		t.Fatal(err)
	}
	add := &aai.Call{Caller: aai.Caller{Door: aai.DoorMCP, Name: "claude", Identity: "/usr/bin/claude"}, App: w.host, Tool: "add", Args: map[string]any{"text": "x"}}
	if result, err := w.gateway.Do(t.Context(), add); err != nil || !strings.Contains(result.Text, "added") || w.added.Load() != 1 {
		t.Errorf("%+v, %v", result, err)
	}
	listed := &aai.Call{Caller: person, App: aai.BuiltinApp, Tool: "consent_list"}
	result, err := w.gateway.Do(t.Context(), listed)
	assert.NilError(t, err, result)
	assert.Assert(t, is.Contains(fmt.Sprint(result.Data), w.host+"/com.example.notes"), result)
}

// An agent's complete path: the site is not listed, is found, is listed, is read, and its tool
// asks.
func TestAgentFindsWebApp(t *testing.T) {
	w := newWebWorld(t)
	session := w.connect(t)
	names := func() []string {
		list, err := session.ListTools(t.Context(), nil)
		assert.NilError(t, err)
		var names []string
		for _, tool := range list.Tools {
			names = append(names, tool.Name)
		}
		return names
	}
	got := names()
	assert.Check(t, slices.Equal(got, []string{"aai_exec", "web_discover"}), "at first the tools are %q", got)
	for _, tool := range []string{"web_discover", "web:discover"} {
		guide, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: map[string]any{"url": "https://" + w.host + "/a/page"}})
		assert.NilError(t, err, "%+v", guide)
		assert.Assert(t, !guide.IsError, "%+v", guide)
		text := guide.Content[0].(*sdk.TextContent).Text
		for _, words := range []string{"From https://" + w.host + ", as data", "- id: " + w.host + "/com.example.notes", "### add", "aai_exec"} {
			assert.Check(t, is.Contains(text, words), "%s does not say %q:\n%s", tool, words, text)
		}
	}
	id := w.host + "/com.example.notes"
	entry := aai.WireName("app:" + id)
	got = names()
	assert.Assert(t, is.Contains(got, entry))
	assert.Assert(t, is.Len(got, 3))
	read, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "app:" + id})
	assert.NilError(t, err, "%+v", read)
	assert.Assert(t, is.Contains(read.Contents[0].Text, "com.example.notes"), "%+v", read)
	for _, call := range []*sdk.CallToolParams{
		{Name: entry},
		{Name: "app:" + id},
	} {
		guide, err := session.CallTool(t.Context(), call)
		assert.NilError(t, err, "%s %+v", call.Name, guide)
		assert.Assert(t, !guide.IsError, "%s %+v", call.Name, guide)
	}
	for _, call := range []*sdk.CallToolParams{
		{Name: "aai_exec", Arguments: map[string]any{"app": "https://" + w.host, "tool": "add", "args": map[string]any{"text": "x"}}},
		{Name: id + ":add", Arguments: map[string]any{"text": "x"}},
	} {
		result, err := session.CallTool(t.Context(), call)
		assert.NilError(t, err, "%s %+v", call.Name, result)
		assert.Assert(t, result.IsError, "%s %+v", call.Name, result)
		assert.Assert(t, is.Contains(result.Content[0].(*sdk.TextContent).Text, "CONSENT_REQUIRED"), "%s %+v", call.Name, result)
	}
	if w.asked.Load() != 1 || w.added.Load() != 0 {
		t.Errorf("the site was asked %d times, %d notes were added", w.asked.Load(), w.added.Load())
	}
}

// A call that cannot be recorded does not run: no site gets an unrecorded request, for any entry.
func TestNoSiteIsAskedOffTheRecord(t *testing.T) {
	w := newWebWorld(t)
	w.gateway.Journal = noJournal{}
	session := w.connect(t)
	for _, name := range []string{"web_discover", "aai_exec", w.host + "/com.example.notes:add", "app:" + w.host} {
		args := map[string]any{"url": w.host, "app": w.host, "tool": "add"}
		result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: args})
		assert.Check(t, err != nil || result.IsError, "%s gave %+v", name, result)
	}
	for _, uri := range []string{"app:" + w.host, "app:https://" + w.host, "guide:" + w.host} {
		read, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		assert.Check(t, err != nil, "%s gave %+v", uri, read)
	}
	n := w.asked.Load()
	assert.Check(t, n == 0, "the site was asked %d times", n)
}

// noJournal is a journal that cannot be written.
type noJournal struct{}

func (noJournal) Record(context.Context, *aai.Entry) error { return syscall.ENOSPC }

func (noJournal) Ready(context.Context) error { return syscall.ENOSPC }

// One call is one lookup, also for a client that reads the log.
func TestACallLooksUpOnce(t *testing.T) {
	w := newWebWorld(t)
	w.gone.Store(true)
	session := w.connect(t)
	//nolint:staticcheck // deprecated, but current clients have it
	assert.NilError(t, session.SetLoggingLevel(t.Context(), &sdk.SetLoggingLevelParams{Level: "debug"}))
	result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "aai_exec", Arguments: map[string]any{"app": "https://" + w.host, "tool": "add"}})
	assert.NilError(t, err, "%+v", result)
	assert.Assert(t, result.IsError, "%+v", result)
	n := w.asked.Load()
	assert.Check(t, n == 1, "the site was asked %d times", n)
}

// connect returns an agent at the door, with the SDK's own client.
func (w *webWorld) connect(t *testing.T) *sdk.ClientSession {
	t.Helper()
	toDoor, fromClient := io.Pipe()
	toClient, fromDoor := io.Pipe()
	ended := make(chan error, 1)
	door := mcp.New(doorConfig(w.components, w.cfg, "/usr/bin/agent"))
	go func() { ended <- door.ServeStdio(context.Background(), toDoor, fromDoor) }()
	client := sdk.NewClient(&sdk.Implementation{Name: "tester", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &sdk.IOTransport{Reader: toClient, Writer: fromClient}, nil)
	assert.NilError(t, err)
	t.Cleanup(func() {
		_ = session.Close()
		_ = fromClient.Close()
		<-ended
	})
	return session
}
