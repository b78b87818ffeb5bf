package main_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit"
	"github.com/gybob/aai-gateway/internal/testkit/tokencount"
)

// With five hundred apps, an agent's list stays small; it finds a tool with one call, and runs it
// with the next. No app can describe another one's tools.
func mcpManyApps(t *testing.T, b programPath) {
	bus := testkit.StartBus(t)
	app := testkit.ServeOnBus(t, bus, exampleApp)
	h := b.home(t, bus)
	for i := range 499 {
		id := fmt.Sprintf("com.example.other%d", i)
		h.write(t, ".aai/"+id+"/aai.json", strings.NewReplacer("org.example.App", id, `"echo"`, `"other"`).Replace(exampleDescriptor))
	}
	p := h.start(t).open()
	raw := p.ask("tools/list", `{}`).Result
	got := p.toolNames()
	assert.Check(t, slices.Equal(got, []string{"aai_exec", "aai_search", "app_desktop", "web_discover"}), "the tools are %q", got)
	n := tokencount.Count(t, string(raw))
	assert.Check(t, n <= 1500, "the list costs %d tokens", n)
	found := p.toolResult(p.ask("tools/call", `{"name":"aai_search","arguments":{"words":"echo"}}`))
	text := found.Content[0].Text
	assert.Assert(t, !found.IsError, "the search says %s", text)
	assert.Assert(t, is.Contains(text, `aai_exec({"app": "org.example.App", "tool": "echo", "args": {"v": `))
	r := p.call("echo", `{"v":"two calls"}`)
	assert.Assert(t, !r.IsError, "echo gave %+v", r)
	assert.Equal(t, r.StructuredContent.Result, "two calls", "%+v", r)
	assert.Equal(t, app.Calls("EchoString"), 1, "%+v", r)
	for _, closed := range []string{`{"name":"aai_exec","arguments":{"app":"aai","tool":"stats"}}`, `{"name":"aai_exec","arguments":{"app":"aai","tool":"rate","args":{"app":"org.example.App","stars":5}}}`} {
		r := p.toolResult(p.ask("tools/call", closed))
		assert.Assert(t, r.IsError, "%s gave %+v", closed, r)
		assert.Equal(t, r.StructuredContent.Type, "PERMISSION_DENIED", "%s %+v", closed, r)
	}
	rest := p.hangUp()
	assert.Check(t, is.Len(rest, 0), "at the end came %q", rest)
}
