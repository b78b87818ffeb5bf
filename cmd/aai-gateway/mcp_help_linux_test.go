package main_test

import (
	"slices"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// mcpHelpOfThePerson: clients with third-party SDKs show the person the form for other words, and the call goes on with
// them.
func mcpHelpOfThePerson(t *testing.T, b programPath) {
	s := linuxtest.StartAccessible(t)
	s.Fixture(t, linuxtest.GTK3)
	for _, c := range sdksWithModels() {
		t.Run(c.sdk+" of "+c.version, func(t *testing.T) {
			h := b.home(t, nil)
			h.env = slices.Concat(s.Env, h.env)
			h.write(t, ".aai/config.json", `{"mcp": {"ask_for_help": true}, "consent": {"preapproved": [{"app": "desktop/gtk3", "tools": ["see"], "caller": "*", "expires": "2999-01-01T00:00:00Z"}]}}`)
			w := h.clientOf(t, c, "", "elicitation", map[string]any{"form": map[string]any{}})
			find := func() int {
				return w.begin("callTool", params("desktop", "ax_find", map[string]any{"app": "gtk3", "query": "button Frobnicate"}))
			}
			call := find()
			answer := map[string]any{"action": "accept", "content": map[string]any{"description": "button Press", "use_visual": false}}
			question := w.asked("elicitation/create", answer)
			assert.Check(t, is.Contains(question, "Could not find 'button Frobnicate' in gtk3. Can you describe it differently?"), "the person was asked %s", question)
			got := string(w.end(call).Result)
			assert.Assert(t, is.Contains(got, "Press"))
			assert.Assert(t, is.Contains(got, "the person described it as"))
			call = find()
			w.asked("elicitation/create", map[string]any{"action": "decline"})
			got = string(w.end(call).Result)
			assert.Assert(t, is.Contains(got, "ELEMENT_NOT_FOUND"))
			assert.Assert(t, is.Contains(got, "does not want to describe it"))
			var nothing struct{}
			w.do(&nothing, "close")
		})
	}
}
