package main_test

import (
	"slices"
	"strings"
	"testing"

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
			if question := w.asked("elicitation/create", answer); !strings.Contains(question, "Could not find 'button Frobnicate' in gtk3. Can you describe it differently?") {
				t.Errorf("the person was asked %s", question)
			}
			if got := string(w.end(call).Result); !strings.Contains(got, "Press") || !strings.Contains(got, "the person described it as") {
				t.Errorf("the tool says %s", got)
			}
			call = find()
			w.asked("elicitation/create", map[string]any{"action": "decline"})
			if got := string(w.end(call).Result); !strings.Contains(got, "ELEMENT_NOT_FOUND") || !strings.Contains(got, "does not want to describe it") {
				t.Errorf("declined, the tool says %s", got)
			}
			var nothing struct{}
			w.do(&nothing, "close")
		})
	}
}
