package mcp_test

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// TestUnknownTools checks that the error for an unlisted tool is short and names the calls to make instead.
func TestUnknownTools(t *testing.T) {
	long := strings.Repeat("x", 1<<20-1000)
	for name, c := range map[string]struct{ profile, tool, says string }{
		"of the desktop":         {"apps", "ax_list_apps", `call aai_exec with {"app": "desktop", "tool": "ax_list_apps"`},
		"of one app":             {"apps", "add", `call aai_exec with {"app": "org.example.Notes", "tool": "add"`},
		"a slip":                 {"apps", "aai_exce", "the nearest names are aai_exec"},
		"a slip in a listed one": {"desktop", "ax_list_app", "ax_list_apps"},
		"of nobody":              {"apps", "qqqqqqqqqqqqqqqqqqqqqqqqqq", "tools/list"},
		"too long":               {"apps", long, "1 KiB"},
		"empty":                  {"apps", "", "empty"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, withDesktop, withProfile(c.profile))
			client := w.dial(t).open("2025-06-18", `{}`)
			m := client.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{}}`, c.tool))
			assert.Assert(t, m.Error != nil, "%.600s", fmt.Sprint(m.Error))
			assert.Equal(t, m.Error.Code, -32602, "%.600s", fmt.Sprint(m.Error))
			assert.Assert(t, is.Contains(m.Error.Message, c.says), "%.600s", fmt.Sprint(m.Error))
			assert.Assert(t, len(m.Error.Message) <= 500, "%.600s", fmt.Sprint(m.Error))
			got := w.journal.calls(aai.Outcome)
			assert.Assert(t, is.Len(got, 1), "%.600s", fmt.Sprint(got))
			assert.Equal(t, got[0].Code, aai.ToolNotFound, "%.600s", fmt.Sprint(got))
			assert.Assert(t, len(got[0].Tool) <= 1024, "on record: %.600s", fmt.Sprint(got))
		})
	}
}

// TestRefusalsHaveNoInternals checks that errors contain neither internals nor the whole request.
func TestRefusalsHaveNoInternals(t *testing.T) {
	client := newWorld(t).dial(t).open("2025-06-18", `{}`)
	for _, r := range []struct{ method, params, says string }{
		{"tools/call", `{"name":1}`, "the wrong type of name"},
		{"tools/call", `[]`, "form"},
		{"tools/call", `7`, "form"},
		{"resources/read", `{"uri":["` + strings.Repeat("x", 100_000) + `"]}`, "uri"},
		{strings.Repeat("m", 1<<20), `{}`, "method not found"},
	} {
		m := client.ask(r.method, r.params)
		assert.Assert(t, m.Error != nil, "%.40s %.40s %.300s", r.method, r.params, fmt.Sprint(m.Error))
		assert.Assert(t, is.Contains(m.Error.Message, r.says), "%.40s %.40s %.300s", r.method, r.params, fmt.Sprint(m.Error))
		assert.Assert(t, len(m.Error.Message) <= 200, "%.40s %.40s %.300s", r.method, r.params, fmt.Sprint(m.Error))
		for _, word := range []string{"unmarshal", "mcp.", "Go struct", "Raw"} {
			assert.Check(t, !strings.Contains(m.Error.Message, word), "%.40s: a client reads %q", r.method, m.Error.Message)
		}
	}
}

// TestRefusalsOfHTTPHaveNoInternals checks the same over HTTP.
func TestRefusalsOfHTTPHaveNoInternals(t *testing.T) {
	s := newWorld(t).serve(t, withTokens)
	good := s.as("alice").open(t)
	for _, r := range []struct{ method, params, says string }{
		{`"tools/call"`, `{"name":1}`, "the wrong type of name"},
		{`"tools/call"`, `[]`, "form"},
		{`"initialize"`, `[]`, "form"},
		{`"resources/read"`, `{"uri":["` + strings.Repeat("x", 100_000) + `"]}`, "uri"},
		{`"` + strings.Repeat("m", 1<<20) + `"`, `{}`, "not handled"},
		{`7`, `{}`, "the method is no string"},
	} {
		_, text := s.text(t, httpRequest{body: fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%s,"params":%s}`, r.method, r.params), headers: good.headers})
		assert.Assert(t, is.Contains(text, r.says), "%.40s %.40s", r.method, r.params)
		assert.Assert(t, len(text) <= 400, "%.40s %.40s %.600s", r.method, r.params, text)
		for _, word := range []string{"unmarshal", "mcp.", "Go struct", "Raw"} {
			assert.Check(t, !strings.Contains(text, word), "%.40s: a client reads %.600q", r.method, text)
		}
	}
}

// TestLongNames checks that the names in a call are short: the limit for arguments does not count them.
func TestLongNames(t *testing.T) {
	long := strings.Repeat("x", 2<<20)
	for name, params := range map[string]string{
		"app":  fmt.Sprintf(`{"name":"aai_exec","arguments":{"app":%q,"tool":"add"}}`, long),
		"tool": fmt.Sprintf(`{"name":"aai_exec","arguments":{"app":%q,"tool":%q}}`, notes, long),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			result := w.dial(t).open("2025-06-18", `{}`).ask("tools/call", params).result(t)
			result.fails(t, "INVALID_PARAMS")
			text := result.Content[0].Text
			assert.Assert(t, len(text) <= 500, "a model reads %.600q", text)
			assert.Assert(t, is.Contains(text, name+": expected a name of at most 1 KiB"))
			got := w.journal.calls(aai.Outcome)
			assert.Assert(t, is.Len(got, 1))
			assert.Assert(t, len(got[0].App)+len(got[0].Tool) <= 1024, "%d are on record", len(got))
		})
	}
}
