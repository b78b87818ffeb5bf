package importers_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/importers"
)

// sourceOf returns an Importer's digest of a descriptor's source, and whether it has changed.
func sourceOf(t *testing.T, room *importers.Importer, d *catalog.Document) string {
	t.Helper()
	digest, again, err := room.CurrentDigest(t.Context(), d)
	switch {
	case err != nil:
		return "error: " + err.Error() + "; " + again
	case digest == d.Generated.Digest:
		return "current"
	}
	return "changed: " + again
}

// TestSourceOfAServer checks the comparison with the client's current server: other values are
// the same server, another command is not.
func TestSourceOfAServer(t *testing.T) {
	c := &client{servers: map[string]map[string]any{"my tickets": {"command": "npx", "args": []any{"a"}, "env": map[string]any{"K": "canary"}}}}
	_, saved, _ := takenServer(t, c, t.TempDir())
	room := importers.New(importers.Config{Platform: "linux", Clients: c})
	d := saved["my tickets"].Document
	assert.Check(t, is.Equal(sourceOf(t, room, d), "current"))
	c.servers["my tickets"]["env"] = map[string]any{"K": "another canary"}
	got := sourceOf(t, room, d)
	assert.Check(t, is.Equal(got, "current"), "with another value: %s", got)
	c.servers["my tickets"]["args"] = []any{"b"}
	got = sourceOf(t, room, d)
	assert.Check(t, is.Equal(got, "changed: aai-gateway import --from claude-code --server 'my tickets'"), "with another command: %s", got)
	c.servers = map[string]map[string]any{"other": {"command": "npx"}}
	got = sourceOf(t, room, d)
	assert.Check(t, is.Contains(got, `: Claude Code has no server "my tickets" any more`), "once it has gone: %s", got)
}

// TestSourceOfAnAPI checks the comparison with the document's file; a URL is not requested.
func TestSourceOfAnAPI(t *testing.T) {
	file := filepath.Join(t.TempDir(), "my shop.json")
	write := func(title string) {
		text := `{"openapi": "3.0.3", "info": {"title": "` + title + `", "version": "1"}, "servers": [{"url": "https://shop.example.com"}],
			"paths": {"/orders": {"get": {"operationId": "list", "summary": "List", "responses": {"200": {"description": "ok"}}}}}}`
		assert.NilError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	write("Shop")
	room := importers.New(importers.Config{Folder: t.TempDir()})
	args := map[string]any{"source": file}
	result, err := toolIn(t, room, importers.ShowOpenAPITool).Run(t.Context(), &aai.Call{Args: args})
	assert.NilError(t, err)
	args["seen"] = member(t, result.Data, "seen")
	saved, err := room.Tools()[1].Run(t.Context(), &aai.Call{Args: args})
	assert.NilError(t, err)
	text, err := os.ReadFile(member(t, saved.Data, "path"))
	assert.NilError(t, err)
	d, err := catalog.Parse(text, catalog.Options{})
	assert.NilError(t, err)
	assert.Check(t, is.Equal(sourceOf(t, room, d.Document), "current"))
	write("Another Shop")
	assert.Check(t, is.Equal(sourceOf(t, room, d.Document), "changed: aai-gateway import openapi '"+file+"' --id com.example.shop"))
	assert.NilError(t, os.Remove(file))
	assert.Check(t, is.Contains(sourceOf(t, room, d.Document), ": its document cannot be read"))
	d.Document.Generated.From = "openapi:https://shop.example.com/openapi.json"
	room = importers.New(importers.Config{}) // it would panic if it fetched
	got := sourceOf(t, room, d.Document)
	assert.Assert(t, strings.HasSuffix(got, "; aai-gateway import openapi https://shop.example.com/openapi.json --id com.example.shop"), got)
	assert.Assert(t, is.Contains(got, "to fetch it, run: "))
}

// member returns a text in a result.
func member(t *testing.T, answer any, name string) string {
	t.Helper()
	text, err := json.Marshal(answer)
	assert.NilError(t, err)
	var all map[string]any
	assert.NilError(t, json.Unmarshal(text, &all))
	value, _ := all[name].(string)
	return value
}
