package importers_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
	if got := sourceOf(t, room, d); got != "current" {
		t.Error(got)
	}
	c.servers["my tickets"]["env"] = map[string]any{"K": "another canary"}
	if got := sourceOf(t, room, d); got != "current" {
		t.Errorf("with another value: %s", got)
	}
	c.servers["my tickets"]["args"] = []any{"b"}
	if got := sourceOf(t, room, d); got != "changed: aai-gateway import --from claude-code --server 'my tickets'" {
		t.Errorf("with another command: %s", got)
	}
	c.servers = map[string]map[string]any{"other": {"command": "npx"}}
	if got := sourceOf(t, room, d); !strings.Contains(got, `: Claude Code has no server "my tickets" any more`) {
		t.Errorf("once it has gone: %s", got)
	}
}

// TestSourceOfAnAPI checks the comparison with the document's file; a URL is not requested.
func TestSourceOfAnAPI(t *testing.T) {
	file := filepath.Join(t.TempDir(), "my shop.json")
	write := func(title string) {
		text := `{"openapi": "3.0.3", "info": {"title": "` + title + `", "version": "1"}, "servers": [{"url": "https://shop.example.com"}],
			"paths": {"/orders": {"get": {"operationId": "list", "summary": "List", "responses": {"200": {"description": "ok"}}}}}}`
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("Shop")
	room := importers.New(importers.Config{Folder: t.TempDir()})
	var d *catalog.Descriptor
	for _, tool := range room.Tools() {
		args := map[string]any{"source": file}
		if tool.Name == importers.ShowOpenAPITool {
			result, err := tool.Run(t.Context(), &aai.Call{Args: args})
			if err != nil {
				t.Fatal(err)
			}
			args["seen"] = member(t, result.Data, "seen")
			saved, err := room.Tools()[1].Run(t.Context(), &aai.Call{Args: args})
			if err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(member(t, saved.Data, "path"))
			if err != nil {
				t.Fatal(err)
			}
			if d, err = catalog.Parse(text, catalog.Options{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := sourceOf(t, room, d.Document); got != "current" {
		t.Error(got)
	}
	write("Another Shop")
	if got := sourceOf(t, room, d.Document); got != "changed: aai-gateway import openapi '"+file+"' --id com.example.shop" {
		t.Error(got)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if got := sourceOf(t, room, d.Document); !strings.Contains(got, ": its document cannot be read") {
		t.Error(got)
	}
	d.Document.Generated.From = "openapi:https://shop.example.com/openapi.json"
	room = importers.New(importers.Config{}) // it would panic if it fetched
	if got := sourceOf(t, room, d.Document); !strings.HasSuffix(got, "; aai-gateway import openapi https://shop.example.com/openapi.json --id com.example.shop") || !strings.Contains(got, "to fetch it, run: ") {
		t.Error(got)
	}
}

// member returns a text in a result.
func member(t *testing.T, answer any, name string) string {
	t.Helper()
	text, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	value, _ := all[name].(string)
	return value
}
