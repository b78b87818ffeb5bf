package clients_test

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestEntriesThatAreNoServers checks that an entry without a name, or that is no object, is
// skipped with a reason by the import; discover lists entries of valid form.
func TestEntriesThatAreNoServers(t *testing.T) {
	for id, text := range map[string]string{
		"cursor":   `{"mcpServers": {"": {"command": "npx"}, "flat": "npx tickets", "tickets": {"command": "npx"}}}`,
		"continue": "mcpServers:\n  - command: npx\n  - name: tickets\n    command: npx\n",
	} {
		w := newWorld(t, "linux", nil)
		if id == "cursor" {
			w.file(".cursor/mcp.json", text)
		} else {
			w.file(".continue/config.yaml", text)
		}
		servers, _, err := w.room.ServersOf(id)
		assert.NilError(t, err, "%s %v", id, servers)
		assert.Assert(t, servers[""] != nil, "%s %v", id, servers)
		assert.Assert(t, servers["tickets"] != nil, "%s %v", id, servers)
		flat, there := servers["flat"]
		assert.Check(t, is.Equal(there, (id == "cursor")), "%s %v", id, servers)
		assert.Check(t, flat == nil, "%s %v", id, servers)
		found, _ := w.room.Servers()
		assert.Check(t, is.Len(found, 2), id)
	}
}
