package mcp_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// rootsTool returns the client's roots.
func rootsTool(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
	ask := aai.ClientCapabilitiesOf(ctx).Roots
	if ask == nil {
		return &aai.Result{Text: "no folders"}, nil
	}
	roots, err := ask(ctx)
	if err != nil {
		return nil, err
	}
	return &aai.Result{Text: fmt.Sprint(roots)}, nil
}

// withRootsTool adds the tool to the gateway's own app and to another app.
func withRootsTool(w *world) {
	w.catalog.apps[0].Tools = append(w.catalog.apps[0].Tools, tool("where", aai.Reads, rootsTool))
	adding(slowly(rootsTool))(w)
}

const whereCall = `{"name":"aai_exec","arguments":{"app":"aai","tool":"where"}}`

// TestRootsInRounds checks that the gateway's own tools get the roots of stateless clients in a second round.
func TestRootsInRounds(t *testing.T) {
	folder := t.TempDir()
	w := newWorld(t, withRootsTool)
	client := mcp.NewClient(&mcp.Implementation{Name: "tester", Version: "0"}, nil)
	client.AddRoots(&mcp.Root{URI: "file://" + filepath.ToSlash(folder), Name: "project"}, &mcp.Root{URI: "https://example.com/x"})
	session := w.connectClient(t, "2026-07-28", client)
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "aai_exec", Arguments: map[string]any{"app": "aai", "tool": "where"}})
	assert.NilError(t, err)
	got, want := textIn(t, result), fmt.Sprintf("[{%s project}]", folder)
	assert.Check(t, is.Equal(got, want), "the folders are %q, want %q", got, want)
	// Another app's tool might have effects: it is not run twice.
	got = textIn(t, callWork(t, session))
	assert.Check(t, is.Equal(got, "no folders"), "an app's tool knows %q", got)
}

// TestAnswersThatAreNoRoots tests other answers of stateless clients. None is asked twice.
func TestAnswersThatAreNoRoots(t *testing.T) {
	const knowsRoots = `{"roots":{}}`
	w := newWorld(t, withRootsTool)
	c := w.dial(t)
	r := c.ask("tools/call", modern(whereCall, "", knowsRoots)).result(t)
	assert.Equal(t, r.ResultType, "input_required", "%+v", r)
	assert.Equal(t, r.InputRequests["aai.roots"].Method, "roots/list", "%+v", r)
	for answer, want := range map[string]string{
		`{"aai.roots":{"roots":[]}}`:                                "[]",
		`{"aai.roots":{"roots":[{"uri":"https://a.b/"}]}}`:          "[]",
		`{"aai.roots":{"action":"accept","content":{}}}`:            "AUTOMATION_FAILED",
		`{"consent":{"action":"decline"},"aai.roots":{"roots":[]}}`: "[]",
	} {
		r := c.ask("tools/call", modern(whereCall, `"inputResponses":`+answer+`,`, knowsRoots)).result(t)
		text := r.Content[0].Text
		assert.Check(t, strings.HasPrefix(text, want), "%s gave %q, want %q", answer, text, want)
	}
	text := c.ask("tools/call", modern(whereCall, "", `{}`)).result(t).Content[0].Text
	assert.Check(t, is.Equal(text, "no folders"), "a client without roots gave %q", text)
}
