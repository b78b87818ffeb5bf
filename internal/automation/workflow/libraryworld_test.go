package workflow_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/automation/workflow"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/policy"
	"github.com/gybob/aai-gateway/internal/schema"
	"github.com/gybob/aai-gateway/internal/secrets"
)

// libraryWorld is a gateway with real gates, an app that stores numbers by name, and a user's
// folder of workflows.
type libraryWorld struct {
	*gateway.Gateway
	folder string
	// recordings is the folder of the person's recordings, and running the name of the one that runs.
	recordings, running string

	library *workflow.Library
	keeper  *workflow.SQLiteStore
	local   *catalog

	mu      sync.Mutex
	numbers map[string]any
	asked   []string
	answer  string
}

func newLibraryWorld(t *testing.T) *libraryWorld {
	t.Helper()
	data := t.TempDir()
	w := &libraryWorld{folder: filepath.Join(data, "workflows"), numbers: map[string]any{"a": "before"}, answer: "always", recordings: t.TempDir()}
	assert.NilError(t, os.Mkdir(w.folder, 0o700))
	vault := secrets.New(secrets.Config{Folder: filepath.Join(data, "secrets"), Getenv: func(string) string { return "" }, AllowInsecureFile: true})
	w.keeper = workflow.NewSQLiteStore(workflow.SQLiteConfig{Path: filepath.Join(data, "state.db"), Vault: vault})
	t.Cleanup(func() { _ = w.keeper.Close() })
	w.library = workflow.NewLibrary(w.folder, workflow.Config{Gateway: func() *gateway.Gateway { return w.Gateway }, Store: w.keeper, Recordings: w.recordings, IsRecording: func(name string) bool { return name == w.running }})
	own := &aai.App{ID: aai.BuiltinApp, Tools: w.library.Tools(w.keeper)}
	w.local = &catalog{apps: []*aai.App{own, w.library.ReservedApp(), w.app()}}
	w.Gateway = &gateway.Gateway{
		Catalog: w.library.Wrap(w.local), Journal: w, Dialog: w,
		Gates: []aai.Gate{
			policy.NewBuiltinGate(policy.BuiltinConfig{AgentTools: workflow.AgentLibraryTools(), PersonDoors: []string{aai.DoorCLI}, IsNarrowing: func(r *aai.Request) bool { return r.Tool.Name == workflow.RenameTool }}),
			policy.NewConsent(policy.ConsentConfig{Store: policy.NewFileStore(filepath.Join(data, "consent.json"))}),
		},
	}
	return w
}

const shelf = "org.example.Shelf"

func (w *libraryWorld) app() *aai.App {
	params := schema.MustParse(`{"type": "object", "properties": {"name": {"type": "string"}, "value": {}}}`)
	return &aai.App{ID: shelf, Digest: "d", Tools: []*aai.Tool{
		{Name: "get", Effect: aai.Reads, Params: params, Run: func(_ context.Context, call *aai.Call) (*aai.Result, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			return &aai.Result{Data: map[string]any{"value": w.numbers[call.Args["name"].(string)]}}, nil
		}},
		{Name: "set", Effect: aai.Changes, Params: params, Run: func(_ context.Context, call *aai.Call) (*aai.Result, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			name := call.Args["name"].(string)
			before := w.numbers[name]
			w.numbers[name] = call.Args["value"]
			return &aai.Result{Undo: &aai.Undo{Description: name + " as before", Step: aai.Step{App: shelf, Tool: "set", Args: map[string]any{"name": name, "value": before}}}}, nil
		}},
	}}
}

func (w *libraryWorld) write(t *testing.T, name, text string) {
	t.Helper()
	assert.NilError(t, os.WriteFile(filepath.Join(w.folder, name), []byte(text), 0o600))
}

func (w *libraryWorld) Record(context.Context, *aai.Entry) error { return nil }

func (w *libraryWorld) Ask(_ context.Context, q aai.Question) (aai.Answer, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = append(w.asked, q.Title)
	for _, choice := range q.Choices {
		if choice.ID == w.answer {
			return aai.Answer{Choice: w.answer, Seal: q.Seal, Channel: aai.DesktopDialog}, nil
		}
	}
	return aai.Answer{Choice: "once", Seal: q.Seal, Channel: aai.DesktopDialog}, nil
}

// catalog is a fixed list of apps.
type catalog struct{ apps []*aai.App }

func (c *catalog) Apps() []*aai.App              { return c.apps }
func (c *catalog) OnChange(func()) (stop func()) { return func() {} }

func (c *catalog) Find(_ context.Context, name string) (*aai.App, error) {
	for _, app := range c.apps {
		if app.HasName(name) {
			return app, nil
		}
	}
	return nil, aai.Errorf(aai.AppNotFound, "there is no app %q", name)
}

func sessionAgent(session string) aai.Caller {
	return aai.Caller{Door: aai.DoorMCP, Name: "agent", Session: session, Identity: "/usr/bin/" + session}
}

func (w *libraryWorld) do(t *testing.T, caller aai.Caller, app, tool string, args map[string]any) (*aai.Result, *aai.Error) {
	t.Helper()
	result, err := w.Do(t.Context(), &aai.Call{Caller: caller, App: app, Tool: tool, Args: args})
	return result, aai.AsError(err)
}
