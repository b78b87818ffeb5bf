package main_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

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
	if got := p.toolNames(); !slices.Equal(got, []string{"aai_exec", "aai_search", "app_desktop", "web_discover"}) {
		t.Errorf("the tools are %q", got)
	}
	if n := tokencount.Count(t, string(raw)); n > 1500 {
		t.Errorf("the list costs %d tokens", n)
	}
	found := p.toolResult(p.ask("tools/call", `{"name":"aai_search","arguments":{"words":"echo"}}`))
	if text := found.Content[0].Text; found.IsError || !strings.Contains(text, `aai_exec({"app": "org.example.App", "tool": "echo", "args": {"v": `) {
		t.Fatalf("the search says %s", text)
	}
	if r := p.call("echo", `{"v":"two calls"}`); r.IsError || r.StructuredContent.Result != "two calls" || app.Calls("EchoString") != 1 {
		t.Errorf("echo gave %+v", r)
	}
	for _, closed := range []string{`{"name":"aai_exec","arguments":{"app":"aai","tool":"stats"}}`, `{"name":"aai_exec","arguments":{"app":"aai","tool":"rate","args":{"app":"org.example.App","stars":5}}}`} {
		if r := p.toolResult(p.ask("tools/call", closed)); !r.IsError || r.StructuredContent.Type != "PERMISSION_DENIED" {
			t.Errorf("%s gave %+v", closed, r)
		}
	}
	if rest := p.hangUp(); len(rest) > 0 {
		t.Errorf("at the end came %q", rest)
	}
}
