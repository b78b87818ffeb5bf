package mcp_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/drivers/mcp"
)

// memorySecrets keeps secrets in memory.
type memorySecrets struct {
	mu   sync.Mutex
	kept map[string][]byte
}

func (s *memorySecrets) Get(_ context.Context, id string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept[id], nil
}

func (s *memorySecrets) Update(_ context.Context, id string, edit func([]byte) ([]byte, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	fresh, err := edit(s.kept[id])
	if err != nil {
		return err
	}
	if s.kept[id] = fresh; fresh == nil {
		delete(s.kept, id)
	}
	return nil
}

func (s *memorySecrets) Names(_ context.Context, prefix string) (names []string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.kept {
		if strings.HasPrefix(id, prefix) {
			names = append(names, id)
		}
	}
	return names, nil
}

// own runs a builtin tool without the gates, which this package does not test.
func (w *world) own(t *testing.T, name string, args map[string]any) (*aai.Result, *aai.Error) {
	t.Helper()
	for _, tool := range w.Tools(func() aai.Catalog { return w.Catalog }) {
		if tool.Name == name {
			checked, err := tool.Params.Check(args)
			if err != nil {
				return nil, aai.AsError(err)
			}
			result, err := tool.Run(t.Context(), &aai.Call{Args: checked.(map[string]any)})
			return result, aai.AsError(err)
		}
	}
	t.Fatal("no tool", name)
	return nil, nil
}

func withMemorySecrets(c *mcp.Config) { c.Secrets = &memorySecrets{kept: make(map[string][]byte)} }

// A server gets only the variables in its descriptor; they appear neither in its texts nor in the
// log.
func TestValuesByName(t *testing.T) {
	w := newWorld(t, withMemorySecrets)
	t.Setenv("TEST_OTHER", "not for it")
	t.Setenv("TEST_GIVEN", "given-in-the-environment")
	app := w.hostile(t, "env", "--key=${SECRET}", "$SECRET")
	r := w.local.apps[0].Server.MCP
	r.Env = []string{"SECRET", "TEST_GIVEN"}
	_, e := w.call(t, app, "mcp_start", nil)
	if e == nil || e.Code != aai.AuthRequired || !strings.Contains(e.Message, "needs a value for SECRET") || e.Hint != "The person can set it: aai-gateway mcp env "+app+" SECRET." {
		t.Errorf("%+v", e)
	}
	if _, e := w.own(t, mcp.EnvTool, map[string]any{"app": app, "values": map[string]any{"OTHER": "x"}}); e == nil || !strings.Contains(e.Message, "values.OTHER") {
		t.Errorf("%+v", e)
	}
	list, _ := w.own(t, mcp.ServersTool, nil)
	if !strings.Contains(fmt.Sprintf("%+v", list.Data), "Needs:[SECRET]") {
		t.Errorf("%+v", list.Data)
	}
	if _, e := w.own(t, mcp.EnvTool, map[string]any{"app": app, "values": map[string]any{"SECRET": "hush-hush-12345"}}); e != nil {
		t.Fatal(e)
	}
	w.start(t, app)
	result, e := w.call(t, app, "do", nil)
	if e != nil {
		t.Fatal(e)
	}
	eventually(t, "its words are in the log", func() bool { return strings.Contains(w.log.String(), "got") })
	if strings.Contains(result.Text, "hush-hush") || strings.Contains(result.Text, "given-in") || strings.Contains(result.Text, "TEST_OTHER") || strings.Contains(w.log.String(), "hush-hush") {
		t.Errorf("%s\n%s", result.Text, w.log)
	}
	if strings.Count(result.Text, "[secret]") < 3 || !strings.HasSuffix(result.Text, "$SECRET") {
		t.Errorf("%s\n%s", result.Text, w.log)
	}
	if _, e := w.call(t, app, "do", map[string]any{"fail": true}); e == nil || strings.Contains(e.Message, "hush-hush") || !strings.Contains(e.Message, "[secret]") {
		t.Errorf("%+v", e)
	}
	if _, e := w.own(t, mcp.EnvTool, map[string]any{"app": app, "values": map[string]any{"SECRET": ""}}); e != nil {
		t.Fatal(e)
	}
	if _, e := w.call(t, app, "do", nil); e == nil || e.Code != aai.AuthRequired { // the server was restarted
		t.Errorf("%+v", e)
	}
}

// A server's claims about a tool count after the user trusts them, for the current definition.
func TestBelievedClaims(t *testing.T) {
	var kept mcp.Secrets
	w := newWorld(t, withMemorySecrets, func(c *mcp.Config) { kept = c.Secrets })
	app := w.hostile(t, "words")
	if _, e := w.own(t, mcp.TrustTool, map[string]any{"app": app}); e == nil || e.Code != aai.AppNotRunning {
		t.Error(e)
	}
	w.start(t, app)
	before := w.tool(t, app, "do")
	if _, e := w.own(t, mcp.TrustTool, map[string]any{"app": app, "tools": []any{"undo"}}); e == nil || e.Code != aai.InvalidParams {
		t.Error(e)
	}
	if _, e := w.own(t, mcp.TrustTool, map[string]any{"app": app}); e != nil {
		t.Fatal(e)
	}
	after := w.tool(t, app, "do")
	if before.Effect != aai.Destroys || after.Effect != aai.Reads || after.Implementation.Digest() == before.Implementation.Digest() {
		t.Errorf("%v, then %v", before.Effect, after.Effect)
	}
	other := newWorld(t, func(c *mcp.Config) { c.Folder, c.Secrets = w.folder+"/mcp", kept })
	other.hostile(t, "words")
	if other.tool(t, app, "do").Effect != aai.Reads {
		t.Error("another gateway of the person does not believe it")
	}
	forged := newWorld(t, withMemorySecrets, func(c *mcp.Config) { c.Folder = w.folder + "/mcp" }) // the file claims trust that was never granted
	forged.hostile(t, "words")
	if forged.tool(t, app, "do").Effect != aai.Destroys {
		t.Error("a file is believed")
	}
	if _, e := w.own(t, mcp.TrustTool, map[string]any{"app": app, "undo": true}); e != nil || w.tool(t, app, "do").Effect != aai.Destroys {
		t.Error(e)
	}
}

// A variable of the environment serves if none is stored, and relative folders of PATH are
// ignored.
func TestPrograms(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(folder+"/tool", []byte("#!/bin/sh\nexit 7\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(folder)
	w := newWorld(t, func(c *mcp.Config) {
		c.Getenv = func(name string) string { return map[string]string{"PATH": ".:relative"}[name] }
	})
	app := w.add(t, &aai.MCPRecipe{Command: "tool"})
	if _, e := w.call(t, app, "mcp_start", nil); e == nil || !strings.Contains(e.Message, `there is no program "tool"`) {
		t.Errorf("%+v", e)
	}
}
