package importers_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

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
	_, err := in.do(importers.ShowServersTool, importers.SaveServersTool, map[string]any{"client": "claude-code"})
	assert.NilError(in, err)
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
	assert.NilError(in, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		assert.NilError(in, err)
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
	_, err := in.undo()
	assert.Check(t, is.ErrorContains(err, "no import to undo"), "without an import: %v", err)
	in.servers()
	first := in.state()
	in.client.servers = map[string]map[string]any{
		"old": {"command": "y", "env": map[string]any{"K": "second", "L": "second"}},
		"far": {"url": "https://a.example/mcp", "headers": map[string]any{"X-Api-Key": "second key"}},
		"new": {"command": "z", "env": map[string]any{"K": "third"}},
	}
	in.servers()
	assert.Assert(t, cmp.Diff(first, in.state()) != "", "the second import changed nothing")
	text, err := os.ReadFile(importers.BackupPath(filepath.Join(in.folder, "mcp.old", "aai.json")))
	assert.NilError(t, err)
	assert.Equal(t, string(text), first[filepath.Join(in.folder, "mcp.old", "aai.json")])
	said, err := in.undo()
	assert.NilError(t, err)
	assert.Equal(t, said, "Undone: mcp.far, mcp.new, mcp.old.")
	assert.Check(t, is.DeepEqual(first, in.state()))
	assert.Check(t, is.Equal(in.values["import-undo"], ""), "what the vault had stays in it")
	_, err = in.undo()
	assert.Check(t, err != nil, "it was taken back twice")
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
	assert.NilError(t, err)
	assert.NilError(t, os.WriteFile(file, append(text, '\n'), 0o600))
	_, err = in.undo()
	assert.Assert(t, is.ErrorContains(err, "was changed since"))
	assert.Assert(t, is.Len(in.state(), 4))
	assert.NilError(t, os.WriteFile(file, text, 0o600))
	said, err := in.undo()
	assert.NilError(t, err)
	assert.Equal(t, said, "Undone: mcp.a, mcp.b. Values that were changed since stay in the vault: mcp.a, mcp.b.")
	assert.Check(t, is.Equal(in.values["mcp-env/mcp.a"], `{"K":"mine"}`))
	assert.Check(t, is.Equal(in.given["mcp.b"]["key"], "mine"))
	assert.Check(t, is.Len(in.state(), 2))
}

// TestUndoOfAnAPI checks the undo of a document's app.
func TestUndoOfAnAPI(t *testing.T) {
	in := newImporter(t, &client{})
	file := filepath.Join(t.TempDir(), "shop.json")
	assert.NilError(t, os.WriteFile(file, []byte(`{"openapi": "3.0.3", "info": {"title": "Shop", "version": "1"}, "servers": [{"url": "https://shop.example.com"}],
		"paths": {"/orders": {"get": {"operationId": "list", "responses": {"200": {"description": "ok"}}}}}}`), 0o600))
	_, err := in.do(importers.ShowOpenAPITool, importers.SaveOpenAPITool, map[string]any{"source": file})
	assert.NilError(t, err)
	assert.Assert(t, is.Len(in.state(), 1))
	said, err := in.undo()
	assert.NilError(t, err)
	assert.Equal(t, said, "Undone: com.example.shop.")
	assert.Assert(t, is.Len(in.state(), 0))
}
