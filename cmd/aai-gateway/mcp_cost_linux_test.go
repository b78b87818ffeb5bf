package main_test

import (
	"encoding/json"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/testkit"
	"github.com/gybob/aai-gateway/internal/testkit/tokencount"
)

// The program's tool list fits into a model's context: the parts shown to a model (name,
// description, input), and the entire entries.
func mcpListCosts(t *testing.T, b programPath) {
	bus := testkit.StartBus(t)
	for profile, most := range map[string]struct{ shown, whole int }{
		"apps": {300, 600}, "desktop": {4500, 7700}, "all": {4900, 8400},
	} {
		h := b.home(t, bus)
		h.env = append(h.env, "AAI_PROFILE="+profile)
		p := h.start(t).open()
		list := p.ask("tools/list", `{}`).Result
		var said struct {
			Tools []struct {
				Name        string          `json:"name"`
				Description string          `json:"description"`
				InputSchema json.RawMessage `json:"inputSchema"`
			} `json:"tools"`
		}
		assert.NilError(t, json.Unmarshal(list, &said))
		seen, err := json.Marshal(said.Tools)
		assert.NilError(t, err)
		shown, whole := tokencount.Count(t, string(seen)), tokencount.Count(t, string(list))
		t.Logf("%s: %d tools, a model is shown %d tokens, whole %d", profile, len(said.Tools), shown, whole)
		assert.Check(t, shown <= most.shown, "%s: a model is shown %d tokens of %d, whole are %d of %d", profile, shown, most.shown, whole, most.whole)
		assert.Check(t, whole <= most.whole, "%s: a model is shown %d tokens of %d, whole are %d of %d", profile, shown, most.shown, whole, most.whole)
		p.hangUp()
	}
}
