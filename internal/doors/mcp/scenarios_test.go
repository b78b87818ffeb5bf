package mcp_test

import (
	"context"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui"
	"github.com/gybob/aai-gateway/internal/testkit/fakedesktop"
)

// withSameNames adds a desktop on which two programs have the same name.
func withSameNames(w *world) {
	d := fakedesktop.New()
	d.Program("Browser").Window("First").Button("Save", func() {})
	d.Program("Browser").Window("Second").Button("Save", func() {})
	backend := d.Backend()
	w.catalog.apps = append(w.catalog.apps, gui.New(gui.Config{Open: func() desktop.Backend { return backend }}))
}

// clientAnswering is a client that answers every form with the result of say, and records the forms.
func clientAnswering(asked *[]*mcp.ElicitParams, say func(*mcp.ElicitParams) *mcp.ElicitResult) *mcp.ClientOptions {
	return &mcp.ClientOptions{ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		*asked = append(*asked, r.Params)
		return say(r.Params), nil
	}}
}

// offered returns the choices of a form.
func offered(t *testing.T, p *mcp.ElicitParams) []string {
	t.Helper()
	schema, ok := p.RequestedSchema.(map[string]any)
	assert.Assert(t, ok, "the form is %+v", p)
	var ids []string
	for _, id := range schema["properties"].(map[string]any)["decision"].(map[string]any)["enum"].([]any) {
		ids = append(ids, id.(string))
	}
	return ids
}

// TestThePersonSaysWhichAppIsMeant is scenario 1 of the first design: several apps have the name, and
// the person chooses one.
func TestThePersonSaysWhichAppIsMeant(t *testing.T) {
	look := func(session *mcp.ClientSession) (*mcp.CallToolResult, error) {
		return session.CallTool(t.Context(), &mcp.CallToolParams{Name: "aai_exec", Arguments: map[string]any{
			"app": "desktop", "tool": "ax_get_tree", "args": map[string]any{"app": "Browser"}}})
	}
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		for _, c := range []struct {
			choice int    // of those offered; -1: the person declines
			want   string // part of the text for the model
		}{{0, "PERMISSION_DENIED"}, {1, `"First"`}, {2, `"Second"`}, {-1, "PERMISSION_DENIED"}} {
			var asked []*mcp.ElicitParams
			options := clientAnswering(&asked, func(p *mcp.ElicitParams) *mcp.ElicitResult {
				if c.choice < 0 {
					return &mcp.ElicitResult{Action: "decline"}
				}
				return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"decision": offered(t, p)[c.choice]}}
			})
			w := newWorld(t, withSameNames)
			result, err := look(w.connect(t, version, options))
			assert.NilError(t, err)
			assert.Assert(t, is.Len(asked, 1), version)
			assert.Assert(t, is.Contains(asked[0].Message, "Which program is meant?"), version)
			assert.Assert(t, is.Len(offered(t, asked[0]), 3), version)
			text := textIn(t, result)
			assert.Assert(t, is.Contains(text, c.want), "%s %d", version, c.choice)
			assert.Equal(t, result.IsError, (c.want == "PERMISSION_DENIED"), "%s %d", version, c.choice)
		}
		w := newWorld(t, withSameNames)
		result, err := look(w.connect(t, version, nil))
		assert.NilError(t, err, "%s %+v", version, result)
		assert.Assert(t, result.IsError, "%s: without anybody to ask the model is told %+v, %v", version, result, err)
		assert.Assert(t, is.Contains(textIn(t, result), "Give the process id as app"), "%s %+v", version, result)
	}
}

// TestThePersonSeesWhatIsAllowed tests scenarios 3, 5 and 6: an irreversible action, a script, a
// missing right. Each results in the question whether the tool may be used, which shows the arguments.
// An irreversible action is not asked about through a client, which may answer by itself: the person
// learns how to permit it.
func TestThePersonSeesWhatIsAllowed(t *testing.T) {
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		var asked []*mcp.ElicitParams
		options := clientAnswering(&asked, func(*mcp.ElicitParams) *mcp.ElicitResult {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"decision": "once"}}
		})
		w := newWorld(t, withConsentGate(grantsIn(t)))
		result, err := w.connect(t, version, options).CallTool(t.Context(), &mcp.CallToolParams{Name: "aai_exec", Arguments: map[string]any{
			"app": notes, "tool": addTool, "args": map[string]any{"text": "delete (every item of trash)"}}})
		assert.NilError(t, err, "%s %+v", version, result)
		assert.Assert(t, is.Len(asked, 1), "%s %+v", version, result)
		assert.Assert(t, !result.IsError, "%s: the person was asked %+v, and the model is told %+v, %v", version, asked, result, err)
		assert.Equal(t, len(w.added), 1, "%s %+v", version, result)
		for _, part := range []string{"delete (every item of trash)", "make changes that can be undone", `which calls itself "tester"`} {
			assert.Check(t, is.Contains(asked[0].Message, part), "%s: the question does not say %q: %s", version, part, asked[0].Message)
		}
		ids := offered(t, asked[0])
		assert.Check(t, is.Equal(ids[0], "deny"), "%s: the first choice is %q", version, ids[0])
		result, err = w.connect(t, version, options).CallTool(t.Context(), &mcp.CallToolParams{Name: "aai_exec", Arguments: map[string]any{
			"app": notes, "tool": unknownOutcomeTool, "args": map[string]any{}}})
		assert.NilError(t, err, "%s %+v", version, result)
		assert.Assert(t, is.Len(asked, 1), "%s %+v", version, result)
		assert.Assert(t, is.Contains(textIn(t, result), "aai-gateway consent grant "+notes+" "+unknownOutcomeTool), "%s %+v", version, result)
	}
}
