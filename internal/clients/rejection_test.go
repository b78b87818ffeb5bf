package clients_test

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/clients"
)

// TestRejectedFiles: a file that the client itself would not read, or a list by which it would not start the
// gateway, is an error with its place, and the file stays as it is. The forms are those that the clients' own
// "mcp list" rejects.
func TestRejectedFiles(t *testing.T) {
	const servers = `"mcpServers": {"demo": {"command": "true", "args": ["a,}", "//"]}}`
	for name, test := range map[string]struct{ client, file, text, want string }{
		"Claude Code, comma":      {"claude-code", ".claude.json", "{\n  " + servers + ",\n}\n", "line 2, column 69: a comma after the last value"},
		"Claude Code, comment":    {"claude-code", ".claude.json", "{\n  // x\n" + servers + "}", "line 2, column 3: a comment"},
		"Claude Code, mark":       {"claude-code", ".claude.json", "\ufeff{" + servers + "}", ""},
		"Gemini CLI, mark":        {"gemini", ".gemini/settings.json", "\ufeff{" + servers + "}", "line 1, column 1: a byte order mark"},
		"Gemini CLI, comma":       {"gemini", ".gemini/settings.json", "{" + servers + " /* x */ , }", "line 1, column 77: a comma after the last value"},
		"Gemini CLI, comment":     {"gemini", ".gemini/settings.json", "{ // x\n" + servers + "}", ""},
		"Gemini CLI, excluded":    {"gemini", ".gemini/settings.json", "{" + servers + `, "mcp": {"excluded": ["x", "aai-gateway"]}}`, "mcp.excluded: Gemini CLI would not start aai-gateway"},
		"Gemini CLI, not allowed": {"gemini", ".gemini/settings.json", "{" + servers + `, "mcp": {"allowed": ["x"]}}`, "mcp.allowed: Gemini CLI would not start aai-gateway"},
		"Gemini CLI, allowed":     {"gemini", ".gemini/settings.json", "{" + servers + `, "mcp": {"allowed": ["aai-gateway"], "excluded": []}}`, ""},
		"Jan, comment":            {"jan", ".local/share/Jan/data/mcp_config.json", "{" + servers + "} // x", "a comment"},
		"VS Code, comma":          {"vscode", ".config/Code/User/mcp.json", "{\"servers\": {},}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "linux", nil)
			w.file(test.file, test.text)
			_, err := w.room.Install(test.client, serve())
			switch {
			case test.want == "" && err != nil:
				t.Error(err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("got %v; want %s", err, test.want)
			}
			w.is(test.file, test.text)
		})
	}
}

// TestSwitchedOffEntry: an entry of the gateway that the client does not start is named, and stays.
func TestSwitchedOffEntry(t *testing.T) {
	for id, file := range map[string]struct{ path, text, want string }{
		"cline": {".cline/data/settings/cline_mcp_settings.json", `{"mcpServers": {"aai-gateway": {"command": "` + command + `", "args": ["mcp", "serve"], "disabled": true}}}`,
			"mcpServers.aai-gateway has disabled: true"},
		"codex": {".codex/config.toml", "[mcp_servers.aai-gateway]\ncommand = \"" + command + "\"\nargs = [\"mcp\", \"serve\"]\nenabled = false\n",
			"mcp_servers.aai-gateway has enabled: false"},
		"jan": {".local/share/Jan/data/mcp_config.json", `{"mcpServers": {"aai-gateway": {"command": "` + command + `", "args": ["mcp", "serve"], "active": false}}}`,
			"mcpServers.aai-gateway has active: false"},
	} {
		t.Run(id, func(t *testing.T) {
			w := newWorld(t, "linux", nil)
			w.file(file.path, file.text)
			plan := w.plan(w.room.Install(id, serve()))
			assert.Check(t, is.Contains(strings.Join(plan.Notes, "\n"), file.want))
			assert.Check(t, is.Equal(plan.Action, clients.ActionNone), "it would %s", plan.Action)
		})
	}
}

// TestMovedFolders: LM Studio and Jan name another folder in a file.
func TestMovedFolders(t *testing.T) {
	for id, test := range map[string]struct{ file, text, want string }{
		"lm-studio": {".lmstudio-home-pointer", "/srv/lm\n", "/srv/lm/mcp.json"},
		"jan":       {".local/share/Jan/settings.json", `{"data_folder": "/srv/jan"}`, "/srv/jan/mcp_config.json"},
	} {
		t.Run(id, func(t *testing.T) {
			w := newWorld(t, "linux", nil)
			w.file(test.file, test.text)
			for _, c := range w.room.Clients() {
				assert.Check(t, c.ID != id || c.File == test.want, "%s %s", c.File, test.want)
			}
		})
	}
}

// TestManualClients: where no file can be edited, the person gets the text and the link with the entry.
func TestManualClients(t *testing.T) {
	w := newWorld(t, "linux", nil)
	for id, read := range map[string]func(link string) string{
		"cherry-studio": func(link string) string {
			text, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(link, "cherrystudio://mcp/install?servers="))
			assert.Check(t, err)
			return string(text)
		},
		"lobehub": func(link string) string {
			query, err := url.ParseQuery(strings.TrimPrefix(link, "lobehub://plugin/install?"))
			assert.Check(t, err)
			return query.Get("schema")
		},
		"librechat": func(string) string { return `"` + command + `"` },
	} {
		t.Run(id, func(t *testing.T) {
			plan := w.plan(w.room.Install(id, serve()))
			assert.Check(t, is.Equal(plan.Action, clients.ActionManual))
			assert.Check(t, is.Contains(plan.Diff, command))
			inLink := read(plan.Link)
			assert.Assert(t, is.Contains(inLink, command))
			assert.Assert(t, json.Valid([]byte(inLink)), "the link has %s", inLink)
		})
	}
}
