package importers_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/importers"
)

// An importer is an Importer with undo.
type importer struct {
	*testing.T
	*client
	tools  map[string]*aai.Tool
	folder string
}

func newImporter(t *testing.T, c *client) *importer {
	t.Helper()
	c.values, c.keys = make(map[string]string), make(map[string]string)
	in := &importer{T: t, client: c, tools: make(map[string]*aai.Tool), folder: t.TempDir()}
	room := importers.New(importers.Config{Folder: in.folder, UndoFolder: filepath.Join(t.TempDir(), "kept"), Platform: "linux", Clients: c, Secrets: c, Logins: c})
	for _, tool := range room.Tools() {
		in.tools[tool.Name] = tool
	}
	return in
}

// do shows, and saves the shown changes.
func (in *importer) do(show, save string, args map[string]any) (string, error) {
	in.Helper()
	shown, err := in.tools[show].Run(in.Context(), &aai.Call{Args: args})
	if err != nil {
		return "", err
	}
	args["seen"] = member(in.T, shown.Data, "seen")
	result, err := in.tools[save].Run(in.Context(), &aai.Call{Args: args})
	if err != nil {
		return "", err
	}
	return result.Text, nil
}

func (in *importer) servers() {
	in.Helper()
	if _, err := in.do(importers.ShowServersTool, importers.SaveServersTool, map[string]any{"client": "claude-code"}); err != nil {
		in.Fatal(err)
	}
}

func (in *importer) undo() (string, error) {
	in.Helper()
	return in.do(importers.ShowUndoTool, importers.SaveUndoTool, map[string]any{})
}

// state returns the contents of the descriptor folder, the vault and the logins, without the data
// for undo.
func (in *importer) state() map[string]string {
	in.Helper()
	all := make(map[string]string)
	files, err := filepath.Glob(filepath.Join(in.folder, "*", "aai.json"))
	if err != nil {
		in.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			in.Fatal(err)
		}
		all[file] = string(text)
	}
	for id, value := range in.values {
		if value != "" && id != "import-undo" {
			all[id] = value
		}
	}
	for app, key := range in.keys {
		all["key "+app] = key
	}
	return all
}

// TestUndo checks that undo removes new apps, restores replaced ones, and restores the vault's
// values and the keys of logins.
func TestUndo(t *testing.T) {
	in := newImporter(t, &client{servers: map[string]map[string]any{
		"old": {"command": "x", "env": map[string]any{"K": "first"}},
		"far": {"url": "https://a.example/mcp", "headers": map[string]any{"X-Api-Key": "first key"}},
	}})
	if _, err := in.undo(); err == nil || !strings.Contains(err.Error(), "no import to undo") {
		t.Errorf("without an import: %v", err)
	}
	in.servers()
	first := in.state()
	in.client.servers = map[string]map[string]any{
		"old": {"command": "y", "env": map[string]any{"K": "second", "L": "second"}},
		"far": {"url": "https://a.example/mcp", "headers": map[string]any{"X-Api-Key": "second key"}},
		"new": {"command": "z", "env": map[string]any{"K": "third"}},
	}
	in.servers()
	if cmp.Diff(first, in.state()) == "" {
		t.Fatal("the second import changed nothing")
	}
	if text, err := os.ReadFile(importers.BackupPath(filepath.Join(in.folder, "mcp.old", "aai.json"))); err != nil || string(text) != first[filepath.Join(in.folder, "mcp.old", "aai.json")] {
		t.Errorf("the former descriptor is not kept beside: %v", err)
	}
	if said, err := in.undo(); err != nil || said != "Undone: mcp.far, mcp.new, mcp.old." {
		t.Errorf("%q, %v", said, err)
	}
	if diff := cmp.Diff(first, in.state()); diff != "" {
		t.Errorf("taken back (-want +got):\n%s", diff)
	}
	if in.values["import-undo"] != "" {
		t.Error("what the vault had stays in it")
	}
	if _, err := in.undo(); err == nil {
		t.Error("it was taken back twice")
	}
}

// TestUndoOfWhatChanged checks later changes of a person: a changed descriptor stops the undo;
// changed values stay and are named.
func TestUndoOfWhatChanged(t *testing.T) {
	in := newImporter(t, &client{servers: map[string]map[string]any{
		"a": {"command": "x", "env": map[string]any{"K": "v"}}, "b": {"url": "https://a.example/mcp", "headers": map[string]any{"X-Api-Key": "k"}},
	}})
	in.servers()
	in.values["mcp-env/mcp.a"] = `{"K":"mine"}`
	in.given["mcp.b"] = map[string]string{"key": "mine"}
	file := filepath.Join(in.folder, "mcp.a", "aai.json")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(text, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := in.undo(); err == nil || !strings.Contains(err.Error(), "was changed since") || len(in.state()) != 4 {
		t.Errorf("with an edit: %v, %v", err, in.state())
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	said, err := in.undo()
	if err != nil || said != "Undone: mcp.a, mcp.b. Values that were changed since stay in the vault: mcp.a, mcp.b." {
		t.Errorf("%q, %v", said, err)
	}
	if in.values["mcp-env/mcp.a"] != `{"K":"mine"}` || in.given["mcp.b"]["key"] != "mine" || len(in.state()) != 2 {
		t.Errorf("left: %v", in.state())
	}
}

// TestUndoOfAnAPI checks the undo of a document's app.
func TestUndoOfAnAPI(t *testing.T) {
	in := newImporter(t, &client{})
	file := filepath.Join(t.TempDir(), "shop.json")
	if err := os.WriteFile(file, []byte(`{"openapi": "3.0.3", "info": {"title": "Shop", "version": "1"}, "servers": [{"url": "https://shop.example.com"}],
		"paths": {"/orders": {"get": {"operationId": "list", "responses": {"200": {"description": "ok"}}}}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := in.do(importers.ShowOpenAPITool, importers.SaveOpenAPITool, map[string]any{"source": file}); err != nil || len(in.state()) != 1 {
		t.Fatal(err)
	}
	if said, err := in.undo(); err != nil || said != "Undone: com.example.shop." || len(in.state()) != 0 {
		t.Errorf("%q, %v, %v", said, err, in.state())
	}
}
