package introspect_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	godbus "github.com/godbus/dbus/v5"
	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/clients"
	"github.com/gybob/aai-gateway/internal/importers"
	"github.com/gybob/aai-gateway/internal/importers/introspect"
)

// An editor is an agent's client with two MCP servers, which use command.
type editor struct{ command string }

func (e *editor) Scopes(string, string) ([]clients.Scope, clients.Client, error) {
	return []clients.Scope{{Servers: map[string]map[string]any{
		"notes": {"command": e.command}, "mail": {"command": "mail", "args": []any{e.command}},
	}}}, clients.Client{ID: "editor", Name: "Editor", File: "/home/ann/.editor.json"}, nil
}

func (e *editor) ReplaceServers(string, []string, []string) (*clients.Plan, error) {
	return &clients.Plan{Diff: "+ " + e.command}, nil
}

func (e *editor) Apply(context.Context, *clients.Plan) error { return nil }

// A reviewedSource is a source of changes that a person reviews.
type reviewedSource struct {
	show, save string
	args       map[string]any
	setup      func(*reviewWorld) // before the review; may be nil
	change     func(*reviewWorld) // between the review and the save
}

// A reviewWorld holds all sources.
type reviewWorld struct {
	*world
	*editor
	program  *godbus.Conn
	document string
	actions  map[string]aai.Action
}

const programName, programPath = "org.example.One", "/org/example/One"

func newReviewWorld(t *testing.T, document string) *reviewWorld {
	t.Helper()
	w := &reviewWorld{world: newWorld(t), editor: &editor{command: "first"}, document: document, actions: make(map[string]aai.Action)}
	w.program = w.introspected(programName, map[string]string{programPath: `<node><interface name="org.example.One"><method name="Go"/></interface></node>`})
	w.writeDocument("orders")
	imports := importers.New(importers.Config{Folder: w.folder, UndoFolder: filepath.Join(t.TempDir(), "undo"), Platform: "linux", Clients: w.editor})
	for _, tool := range append(imports.Tools(), w.Tools()...) {
		w.actions[tool.Name] = tool.Run
	}
	return w
}

func (w *reviewWorld) writeDocument(operation string) {
	w.Helper()
	text := `{"openapi": "3.0.3", "info": {"title": "Shop", "version": "1"}, "servers": [{"url": "https://shop.example.com"}],
		"paths": {"/orders": {"get": {"operationId": "` + operation + `", "responses": {"200": {"description": "ok"}}}}}}`
	w.write(w.document, text)
}

func (w *reviewWorld) write(path, text string) {
	w.Helper()
	assert.NilError(w, os.WriteFile(path, []byte(text), 0o600))
}

// addMethod adds a method to the program on the bus.
func (w *reviewWorld) addMethod() {
	w.Helper()
	w.export(w.program, programPath, "org.freedesktop.DBus.Introspectable", map[string]any{"Introspect": func() (string, *godbus.Error) {
		return `<node><interface name="org.example.One"><method name="Go"/><method name="Come"/></interface></node>`, nil
	}})
}

// call calls a tool as a person.
func (w *reviewWorld) call(name string, args map[string]any) (*aai.Result, error) {
	w.Helper()
	return w.actions[name](w.Context(), &aai.Call{Caller: aai.Caller{Door: aai.DoorCLI}, Args: args})
}

// saveAs saves the draft with a digest.
func (w *reviewWorld) saveAs(s reviewedSource, seen string) error {
	w.Helper()
	args := maps.Clone(s.args)
	args["seen"] = seen
	_, err := w.call(s.save, args)
	return err
}

// review returns the digest of the preview.
func (w *reviewWorld) review(s reviewedSource) string {
	w.Helper()
	result, err := w.call(s.show, s.args)
	assert.NilError(w, err)
	text, err := jsonText(result.Data)
	assert.NilError(w, err)
	_, after, _ := strings.Cut(text, `"seen":"`)
	seen, _, _ := strings.Cut(after, `"`)
	return seen
}

// reviewAndSave saves the draft of a source.
func (w *reviewWorld) reviewAndSave(s reviewedSource) {
	w.Helper()
	assert.NilError(w, w.saveAs(s, w.review(s)))
}

// files returns the stored descriptors.
func (w *reviewWorld) files() map[string]string {
	w.Helper()
	all := make(map[string]string)
	paths, err := filepath.Glob(filepath.Join(w.folder, "*", "aai.json"))
	assert.NilError(w, err)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		assert.NilError(w, err)
		all[path] = string(text)
	}
	return all
}

// reviewedSources returns every source of changes by a description.
func reviewedSources(document string) map[string]reviewedSource {
	program := reviewedSource{show: introspect.GenerateTool, save: introspect.SaveTool, args: map[string]any{"app": programName}, change: (*reviewWorld).addMethod}
	api := reviewedSource{
		show: importers.ShowOpenAPITool, save: importers.SaveOpenAPITool, args: map[string]any{"source": document},
		change: func(w *reviewWorld) { w.writeDocument("refunds") },
	}
	servers := reviewedSource{
		show: importers.ShowServersTool, save: importers.SaveServersTool, args: map[string]any{"client": "editor"},
		change: func(w *reviewWorld) { w.command = "changed" },
	}
	server, replaced := servers, servers
	server.args = map[string]any{"client": "editor", "servers": []any{"notes"}}
	replaced.args = map[string]any{"client": "editor", "replace": true}
	upgrade, nextAPI, nextServers := program, api, servers
	upgrade.setup = func(w *reviewWorld) {
		w.reviewAndSave(program)
		w.addMethod()
	}
	upgrade.change = func(w *reviewWorld) { // the person edits the stored descriptor
		for path, text := range w.files() {
			w.write(path, strings.Replace(text, "Go (One).", "Go to the office.", 1))
		}
	}
	nextAPI.setup = func(w *reviewWorld) {
		w.reviewAndSave(api)
		w.writeDocument("invoices")
	}
	nextServers.setup = func(w *reviewWorld) {
		w.reviewAndSave(servers)
		w.command = "next"
	}
	return map[string]reviewedSource{
		"a running program": program, "an upgrade of its descriptor": upgrade,
		"a document": api, "an upgrade of its app": nextAPI,
		"a client's servers": servers, "one server": server, "servers that are replaced in the client": replaced, "an upgrade of the servers' apps": nextServers,
		"an undo": {
			show: importers.ShowUndoTool, save: importers.SaveUndoTool, args: map[string]any{},
			setup: func(w *reviewWorld) { w.reviewAndSave(servers) }, change: func(w *reviewWorld) { w.reviewAndSave(api) },
		},
	}
}

// TestReview checks that each source saves the reviewed draft only: nothing without the digest of a
// preview, and nothing if the source or the stored descriptor has changed since.
func TestReview(t *testing.T) {
	document := filepath.Join(t.TempDir(), "shop.json")
	for name, source := range reviewedSources(document) {
		t.Run(name, func(t *testing.T) {
			w := newReviewWorld(t, document)
			if source.setup != nil {
				source.setup(w)
			}
			w.refuses(source, strings.Repeat("0", 64))
			seen := w.review(source)
			source.change(w)
			w.refuses(source, seen)
			before := w.files()
			w.reviewAndSave(source)
			assert.Check(t, !cmp.Equal(before, w.files()), "the reviewed draft was not saved")
		})
	}
}

// refuses checks that a save with a digest fails and changes nothing.
func (w *reviewWorld) refuses(s reviewedSource, seen string) {
	w.Helper()
	before := w.files()
	err := w.saveAs(s, seen)
	assert.Check(w, is.ErrorContains(err, "the preview is out of date"), "a save without a review: %v", err)
	assert.Check(w, is.DeepEqual(before, w.files()))
}
