package builtin_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/audit"
	"github.com/gybob/aai-gateway/internal/builtin"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/oauth"
	"github.com/gybob/aai-gateway/internal/policy"
	"github.com/gybob/aai-gateway/internal/policy/reauth"
	"github.com/gybob/aai-gateway/internal/schema"
	"github.com/gybob/aai-gateway/internal/secrets"
	"github.com/gybob/aai-gateway/internal/testkit/fakeoperator"
)

// A world is a gateway with the real packages, its own folders and a fake driver.
type world struct {
	gateway     *gateway.Gateway
	store       *policy.GrantStore
	folder      string // of the descriptors
	consent     string // the file of the consents
	journal     string // the file of the journal
	deps        builtin.Dependencies
	otherApps   []*aai.App // own apps besides the gateway
	web         web
	screen      screen
	unconfirmed []reauth.Setting // to be confirmed
	typed       string           // hidden input at the terminal; "": no terminal
}

// A screen is a person who answers questions.
type screen struct {
	none   bool   // no screen
	answer string // instead of yes
	asked  []aai.Question
}

func (s *screen) Method(context.Context) aai.Channel {
	if s.none {
		return ""
	}
	return aai.DesktopDialog
}

func (*screen) CheckPassphrase(context.Context, string) error {
	return errors.New("no passphrase was set")
}

func (s *screen) Ask(_ context.Context, q aai.Question) (aai.Answer, error) {
	if q.ID != "proof" {
		return aai.Answer{}, errors.New("they answer nothing else")
	}
	s.asked = append(s.asked, q)
	choice := "yes"
	if s.answer != "" {
		choice = s.answer
	}
	return aai.Answer{Choice: choice, Seal: q.Seal, Channel: aai.DesktopDialog}, nil
}

// A web has one site.
type web struct{ names []string }

func (*web) Discover(_ context.Context, address string) (*aai.App, error) {
	switch address {
	case "example.com":
	case "none.example":
		return nil, aai.Errorf(aai.AppNotFound, "%s offers no app", address)
	default:
		return nil, aai.Errorf(aai.AppNotRunning, "%s could not be reached", address)
	}
	return &aai.App{ID: "example.com/com.example.notes", Name: "Notes", Platform: "web", Source: "https://example.com/.well-known/aai.json"}, nil
}

func (w *web) AddName(name, address string) error {
	w.names = append(w.names, name+" "+address)
	return nil
}

// echo replaces every driver: a tool returns its arguments.
type echo struct{}

func (echo) Compile(*aai.Recipe) (aai.Action, error) {
	return func(_ context.Context, call *aai.Call) (*aai.Result, error) {
		return &aai.Result{Text: "done", Data: call.Args}, nil
	}, nil
}

// newWorld creates a world with the descriptors, by the names of their folders.
func newWorld(t *testing.T, descriptors map[string]string, preapproved ...policy.Grant) *world {
	t.Helper()
	state := t.TempDir()
	w := &world{folder: t.TempDir(), consent: filepath.Join(state, "consent.json"), journal: filepath.Join(state, "audit.jsonl")}
	for name, text := range descriptors {
		w.write(t, filepath.Join(name, "aai.json"), text)
	}
	record := audit.New(w.journal)
	t.Cleanup(func() { _ = record.Close() })
	w.store = policy.NewFileStore(w.consent)
	nowhere := func(string) string { return "/nonexistent" }
	vault := secrets.New(secrets.Config{Folder: filepath.Join(state, "secrets"), Getenv: nowhere, AllowInsecureFile: true})
	w.deps = builtin.Dependencies{
		Journal: record, Store: w.store, Preapproved: preapproved,
		Modes: &policy.ModeGate{Path: filepath.Join(state, "mode")},
		Web:   &w.web,
		Vault: vault,
	}
	w.deps.Passphrase = reauth.NewPassphrase(vault, filepath.Join(state, "passphrase.json"))
	w.deps.Confirmed, w.deps.Unconfirmed = reauth.NewConfirmedSettings(vault), func() []reauth.Setting { return w.unconfirmed }
	w.deps.Logins = oauth.New(oauth.Config{Client: http.DefaultClient, Secrets: vault, AllowLoopbackHTTP: true})
	t.Cleanup(func() { _ = w.deps.Logins.Close() })
	w.open()
	return w
}

// open creates the gateway like a new process, without a scan.
func (w *world) open() {
	var known *catalog.Catalog
	self := builtin.NewApp(w.deps, func() builtin.Catalog { return known })
	known = catalog.New(catalog.Config{
		Places: []catalog.Place{catalog.Folders(w.folder)}, HostPlatform: "linux",
		Drivers: map[string]aai.Driver{"linux/dbus": echo{}}, Builtin: append([]*aai.App{self}, w.otherApps...),
	})
	w.gateway = &gateway.Gateway{
		Catalog: known, Journal: w.deps.Journal, Dialog: &w.screen,
		Gates: []aai.Gate{
			policy.NewBuiltinGate(policy.BuiltinConfig{
				AgentTools: builtin.AgentTools(), PersonDoors: []string{aai.DoorCLI}, PassphraseTool: builtin.SetPassphrase,
				IsNarrowing: builtin.NarrowingCheck(w.store, w.deps.Modes), Authenticator: &w.screen,
			}),
			policy.NewConsent(policy.ConsentConfig{Store: w.store, Preapproved: w.deps.Preapproved}),
		},
	}
}

// windows returns an app that operates the windows of one program, the editor, and can start
// another, the painter.
func windows() *aai.App {
	editor := &aai.App{ID: "desktop/editor", Name: "Editor", Platform: "any", Digest: "editor's digest", PID: 7}
	tool := func(name string, effect aai.Effect) *aai.Tool {
		return &aai.Tool{
			Name: name, Effect: effect, Target: "app",
			Params: schema.MustParse(`{"type": "object", "properties": {"app": {"type": "string"}, "launch": {"type": "boolean"}}}`),
			Run:    func(context.Context, *aai.Call) (*aai.Result, error) { return &aai.Result{Text: "done"}, nil },
		}
	}
	return &aai.App{
		ID: aai.DesktopApp, Name: "Desktop", Platform: "any", Digest: "the desktop's digest",
		Tools: []*aai.Tool{tool("look", aai.Reads), tool("press", aai.Changes)},
		Operator: fakeoperator.Operator{Find: func(_ context.Context, call *aai.Call, name string) (*aai.App, error) {
			if launch, _ := call.Args["launch"].(bool); launch && name == "desktop/painter" {
				return &aai.App{ID: name, Name: "Painter", Platform: "any", Digest: "painter's digest", Process: aai.Process{Launch: &aai.Launch{Digest: "painter's digest"}}}, nil
			}
			if strings.Contains("desktop/editor", name) {
				return editor, nil
			}
			return nil, aai.Errorf(aai.AppNotFound, "no program %q is running", name)
		}},
	}
}

func (w *world) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(w.folder, name)
	assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	assert.NilError(t, os.WriteFile(path, []byte(text), 0o600))
}

// Callers of the tests.
func person() aai.Caller { return aai.Caller{Door: aai.DoorCLI, Name: "terminal"} }
func agent() aai.Caller {
	return aai.Caller{Door: aai.DoorMCP, Name: "claude", Identity: "/usr/bin/claude"}
}

// args decodes JSON arguments as a front end does.
func args(t *testing.T, text string) map[string]any {
	t.Helper()
	if text == "" {
		return nil
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var m map[string]any
	assert.NilError(t, d.Decode(&m))
	return m
}

func (w *world) do(t *testing.T, who aai.Caller, app, tool, arguments string) (*aai.Result, error) {
	t.Helper()
	ctx := t.Context()
	if w.typed != "" {
		ctx = aai.WithClientCapabilities(ctx, aai.ClientCapabilities{AskSecret: func(context.Context, string) (string, error) { return w.typed, nil }})
	}
	return w.gateway.Do(ctx, &aai.Call{Caller: who, App: app, Tool: tool, Args: args(t, arguments)})
}

// callBuiltin calls a builtin tool as the person; it must succeed.
func (w *world) callBuiltin(t *testing.T, tool, arguments string) *aai.Result {
	t.Helper()
	result, err := w.do(t, person(), aai.BuiltinApp, tool, arguments)
	assert.NilError(t, err, "%s %s", tool, arguments)
	w.checkReturns(t, tool, result)
	return result
}

// checkReturns validates a result with the tool's return schema.
func (w *world) checkReturns(t *testing.T, tool string, result *aai.Result) {
	t.Helper()
	app, err := w.gateway.Catalog.Find(t.Context(), aai.BuiltinApp)
	assert.NilError(t, err)
	source := app.Tool(tool).Returns.Source
	if source == nil {
		return
	}
	promised, err := schema.Parse(source)
	assert.NilError(t, err, "what %s promises: %v", tool, err)
	_, err = promised.Check(jsonOf(t, result.Data))
	assert.Check(t, err, "%s does not answer as it promises: %v", tool, err)
}

// expectRefused calls a builtin tool as the person; it must fail with that error.
func (w *world) expectRefused(t *testing.T, tool, arguments string, want aai.Error) {
	t.Helper()
	_, err := w.do(t, person(), aai.BuiltinApp, tool, arguments)
	expectError(t, err, want)
}

// refuses calls a tool, which must fail with the code.
func (w *world) refuses(t *testing.T, code aai.Code, who aai.Caller, app, tool, arguments string) *aai.Error {
	t.Helper()
	_, err := w.do(t, who, app, tool, arguments)
	e := aai.AsError(err)
	assert.Assert(t, e != nil, "%s %s was accepted", tool, arguments)
	assert.Equal(t, e.Code, code, "%s %s: %v", tool, arguments, err)
	return e
}

// expectError compares the parts of an error that a caller sees; an empty Hint matches any.
func expectError(t *testing.T, err error, want aai.Error) {
	t.Helper()
	e, ok := errors.AsType[*aai.Error](err)
	assert.Assert(t, ok, "%s %v", want.Code, err)
	assert.Check(t, e.RetrySafe(), "%+v", e)
	got := aai.Error{Code: e.Code, Message: e.Message, Hint: e.Hint, Candidates: e.Candidates}
	if want.Hint == "" {
		got.Hint = ""
	}
	assert.Check(t, is.DeepEqual(want, got))
}

// jsonOf returns the JSON value of a result's Data.
func jsonOf(t *testing.T, data any) any {
	t.Helper()
	b, err := json.Marshal(data)
	assert.NilError(t, err, "the data is no JSON: %v", err)
	return parsed(t, string(b))
}

func parsed(t *testing.T, text string) any {
	t.Helper()
	var v any
	assert.NilError(t, json.Unmarshal([]byte(text), &v), text)
	return v
}

// sameJSON compares data with JSON text.
func sameJSON(t *testing.T, data any, want string) {
	t.Helper()
	assert.Check(t, is.DeepEqual(parsed(t, want), jsonOf(t, data)))
}

const notes = `{
  "schema_version": "1.0", "appId": "org.example.Notes", "name": "Notes", "description": "Keeps notes.", "version": "1.0",
  "aliases": ["memo"],
  "platforms": {"linux": {"automation": "dbus", "service": "org.example.Notes", "object": "/n", "interface": "org.example.Notes", "tools": [
    {"name": "add", "description": "Adds a note.", "method": "Add", "effect": "changes",
     "parameters": {"type": "object", "properties": {"title": {"type": "string"}, "password": {"type": "string"}}, "required": ["title"], "additionalProperties": false}},
    {"name": "list", "description": "Lists the notes.", "method": "List", "effect": "reads", "parameters": {"type": "object", "properties": {}}}
  ]}}}`

const macOnly = `{
  "schema_version": "1.0", "appId": "org.example.Mac", "name": "Mac", "description": "Only there.", "version": "1.0",
  "platforms": {"macos": {"automation": "applescript", "tools": [
    {"name": "say", "description": "Says it.", "script": "say \"${text}\"", "parameters": {"type": "object", "properties": {"text": {"type": "string"}}}}
  ]}}}`

const broken = `{
  "schema_version": "1.0", "appId": "org.example.Broken", "name": "Broken", "description": "Wrong.", "version": "1.0",
  "platforms": {"linux": {"automation": "dbus", "service": "org.example.Broken", "object": "/b", "interface": "org.example.Broken", "tools": [
    {"name": "go", "description": "Goes.", "method": 7, "parameters": {"type": "object"}}
  ]}}}`

func apps() map[string]string {
	return map[string]string{"org.example.Notes": notes, "org.example.Mac": macOnly}
}
