package mcp_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/drivers/mcp"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/policy"
)

// asServer is the first argument that makes the test binary a server, of the kind in the second
// one.
const asServer = "as-server"

// asGateway makes it start a server that writes its process ids to a file, and wait to be killed.
const asGateway = "as-gateway"

func beGateway(file string) {
	self, _ := os.Executable()
	d := mcp.New(mcp.Config{Getenv: os.Getenv, Home: os.TempDir(), GuardCommand: []string{self, asGuard}})
	run, err := d.Compile(&aai.Recipe{App: "a.b", MCP: &aai.MCPRecipe{Command: self, Args: []string{asServer, "stays", file}}})
	if err == nil {
		_, err = run(context.Background(), &aai.Call{})
	}
	_, _ = fmt.Println("started", err)
	time.Sleep(time.Hour)
}

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == asServer {
		serve(os.Args[2], os.Args[3:])
		os.Exit(0)
	}
	if len(os.Args) > 2 && os.Args[1] == asGateway {
		beGateway(os.Args[2])
		os.Exit(0)
	}
	if len(os.Args) > 2 && os.Args[1] == asGuard {
		os.Exit(beGuard(os.Args[2:]))
	}
	// A session of the SDK in the tests' servers ends after its idle time.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/modelcontextprotocol/go-sdk/mcp.(*streamableServerConn).Read"))
}

// asGuard makes it the supervisor of a server.
const asGuard = "as-guard"

// world is a gateway with real consent and MCP servers as apps.
type world struct {
	*gateway.Gateway
	*mcp.Driver
	folder string
	log    *lines
	local  *fixed

	mu     sync.Mutex
	asked  []aai.Question
	answer string
	noted  []aai.Entry
}

// close ends the servers.
func (w *world) close(t *testing.T) {
	assert.Check(t, w.Close())
}

func newWorld(t *testing.T, more ...func(*mcp.Config)) *world {
	t.Helper()
	w := &world{folder: t.TempDir(), log: new(lines), local: &fixed{}, answer: "always"}
	self, err := os.Executable()
	assert.NilError(t, err)
	cfg := mcp.Config{
		GuardCommand: []string{self, asGuard},
		Folder:       filepath.Join(w.folder, "mcp"), Home: w.folder, Getenv: os.Getenv, Version: "test",
		Log: slog.New(slog.NewTextHandler(w.log, nil)),
	}
	for _, change := range more {
		change(&cfg)
	}
	w.Driver = mcp.New(cfg)
	t.Cleanup(func() { w.close(t) })
	w.Gateway = &gateway.Gateway{
		Catalog: w.WithServerTools(w.local), Journal: w, Dialog: w,
		Gates: []aai.Gate{policy.NewConsent(policy.ConsentConfig{Store: policy.NewFileStore(filepath.Join(w.folder, "consent.json"))})},
	}
	return w
}

// hostile adds an app with a hostile server of the kind.
func (w *world) hostile(t *testing.T, kind string, args ...string) string {
	t.Helper()
	self, err := os.Executable()
	assert.NilError(t, err)
	return w.add(t, &aai.MCPRecipe{Command: self, Args: append([]string{asServer, kind}, args...)})
}

// add adds an app with the server.
func (w *world) add(t *testing.T, r *aai.MCPRecipe) string {
	t.Helper()
	id := "org.example.Server"
	recipe := &aai.Recipe{Kind: "mcp", App: id, Platform: "linux", MCP: r}
	_, err := w.Compile(recipe)
	assert.NilError(t, err)
	w.local.apps = []*aai.App{{ID: id, Name: "Server", Digest: "d", Server: recipe, Platform: "linux"}}
	return id
}

// start starts the app's server.
func (w *world) start(t *testing.T, app string) {
	t.Helper()
	if _, e := w.call(t, app, "mcp_start", nil); e != nil {
		t.Fatal(e, e.Hint, e.Err, w.log)
	}
}

// fails returns the error of a call, which must have the code.
func (w *world) fails(t *testing.T, code aai.Code, app, tool string, args map[string]any) *aai.Error {
	t.Helper()
	_, e := w.call(t, app, tool, args)
	assert.Assert(t, e != nil, "%s succeeded", tool)
	assert.Equal(t, e.Code, code, "%+v", e)
	return e
}

func (w *world) call(t *testing.T, app, tool string, args map[string]any) (*aai.Result, *aai.Error) {
	t.Helper()
	return w.callIn(t.Context(), app, tool, args)
}

func (w *world) callIn(ctx context.Context, app, tool string, args map[string]any) (*aai.Result, *aai.Error) {
	result, err := w.Do(ctx, &aai.Call{
		Caller: aai.Caller{Door: aai.DoorMCP, Name: "agent", Session: "s", Identity: "/usr/bin/agent"}, App: app, Tool: tool, Args: args,
	})
	return result, aai.AsError(err)
}

// tool returns the app's tool as currently listed.
func (w *world) tool(t *testing.T, app, tool string) *aai.Tool {
	t.Helper()
	found, err := w.Catalog.Find(t.Context(), app)
	assert.NilError(t, err)
	return found.Tool(tool)
}

func (w *world) Record(_ context.Context, e *aai.Entry) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.noted = append(w.noted, *e)
	return nil
}

func (w *world) Ask(_ context.Context, q aai.Question) (aai.Answer, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = append(w.asked, q)
	return aai.Answer{Choice: w.answer, Seal: q.Seal, Channel: aai.DesktopDialog}, nil
}

// questions returns the questions to the user since the last call.
func (w *world) questions() []aai.Question {
	w.mu.Lock()
	defer w.mu.Unlock()
	asked := w.asked
	w.asked = nil
	return asked
}

// fixed is a catalog with a fixed list of apps.
type fixed struct{ apps []*aai.App }

func (c *fixed) Apps() []*aai.App              { return append([]*aai.App(nil), c.apps...) }
func (c *fixed) OnChange(func()) (stop func()) { return func() {} }

func (c *fixed) Find(_ context.Context, name string) (*aai.App, error) {
	for _, app := range c.apps {
		if app.HasName(name) {
			return app, nil
		}
	}
	return nil, aai.Errorf(aai.AppNotFound, "there is no app %q", name)
}

// lines is a log.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// eventually waits until the condition is true.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for until := time.Now().Add(time.Minute); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("never: %s", what)
		}
	}
}
