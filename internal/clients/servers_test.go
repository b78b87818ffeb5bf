package clients_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/clients"
)

// canary is in all places where a configuration may have a secret.
const canary = "sk-canary-7f3a"

// inJSON is a configuration with two servers under the key.
func inJSON(key string) string {
	return fmt.Sprintf(`{"apiKey": %[2]q, %[1]q: {
	"tickets": {"command": "npx", "args": ["-y", "tickets", "--token=%[2]s", %[2]q], "env": {"TICKETS_TOKEN": %[2]q, "TICKETS_URL": "https://u:%[2]s@example.com"}},
	"remote": {"url": "https://user:%[2]s@mcp.example.com/%[2]s?key=%[2]s", "headers": {"Authorization": "Bearer %[2]s"}},
	"odd": {"command": "/home/ann/%[2]s", "env": ["A_NAME", "B=%[2]s"]}, "aai-gateway": {"command": "aai-gateway"}}}`, key, canary)
}

// TestServers checks the servers of every client's configuration, with names and no values.
func TestServers(t *testing.T) {
	w := newWorld(t, "linux", nil)
	for _, c := range w.room.Clients() {
		key, text := "mcpServers", ""
		if c.File == "" {
			continue // it has no file
		}
		switch c.ID {
		case "vscode", "vscode-insiders":
			key = "servers"
		case "zed":
			key = "context_servers"
		case "codex":
			text = fmt.Sprintf("key = %[1]q\n[mcp_servers.tickets]\ncommand = \"npx\"\nargs = [%[1]q]\n[mcp_servers.tickets.env]\nTICKETS_TOKEN = %[1]q\nTICKETS_URL = %[1]q\n", canary)
		case "goose":
			text = fmt.Sprintf("GOOSE_KEY: %[1]s\nextensions:\n  tickets:\n    type: stdio\n    cmd: npx\n    args: [%[1]s]\n    envs: {TICKETS_TOKEN: %[1]s, TICKETS_URL: %[1]s}\n", canary)
		case "continue":
			w.file(".continue/config.yaml", fmt.Sprintf("mcpServers:\n  - name: tickets\n    command: npx\n    env: {TICKETS_TOKEN: %[1]s, TICKETS_URL: %[1]s}\n", canary))
			continue
		}
		if text == "" {
			text = inJSON(key)
		}
		w.file(strings.TrimPrefix(c.File, w.home+"/"), text)
	}
	found, unread := w.room.Servers()
	assert.Check(t, is.Len(unread, 0))
	assert.Check(t, !strings.Contains(fmt.Sprintf("%+v", found), canary), "a value came out: %+v", found)
	for _, c := range w.room.Clients() {
		if c.File == "" {
			continue
		}
		i := slices.IndexFunc(found, func(s clients.Server) bool { return s.Client == c.Name && s.Name == "tickets" })
		if i < 0 {
			t.Errorf("no server of %s", c.Name)
			continue
		}
		s := found[i]
		assert.Check(t, is.Equal(s.Transport, "npx"), "%s %+v", c.Name, s)
		assert.Check(t, slices.Equal(s.Variables, []string{"TICKETS_TOKEN", "TICKETS_URL"}), "%s %+v", c.Name, s)
	}
	for _, s := range found {
		switch {
		case s.Name == "aai-gateway":
			t.Errorf("our own: %+v", s)
		case s.Name == "remote" && (s.Transport != "mcp.example.com" || !slices.Equal(s.Variables, []string{"Authorization"})):
			t.Errorf("%+v", s)
		case s.Name == "odd" && (s.Transport != "a program" || !slices.Equal(s.Variables, []string{"A_NAME"})):
			t.Errorf("%+v", s)
		}
	}
}

// TestUnreadableServers checks that an invalid configuration is named and affects no other.
func TestUnreadableServers(t *testing.T) {
	w := newWorld(t, "linux", nil)
	w.file(".cursor/mcp.json", `{"mcpServers": {"tickets": {"command": "npx"}}}`)
	broken := w.file(".config/Claude/claude_desktop_config.json", `{"mcpServers": `+canary)
	w.file(".config/zed/settings.json", strings.Repeat("x", 17<<20))
	found, unread := w.room.Servers()
	assert.Assert(t, is.Len(found, 1))
	assert.Assert(t, is.Len(unread, 2))
	assert.Assert(t, is.Contains(unread, broken))
}
