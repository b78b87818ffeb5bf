package clients_test

import "testing"

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
		if err != nil || servers[""] == nil || servers["tickets"] == nil {
			t.Errorf("%s: %v, %v", id, servers, err)
		}
		if flat, there := servers["flat"]; there != (id == "cursor") || flat != nil {
			t.Errorf("%s: %v", id, servers)
		}
		if found, _ := w.room.Servers(); len(found) != 2 {
			t.Errorf("%s: discover has %+v", id, found)
		}
	}
}
