package clients_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	goccy "github.com/goccy/go-yaml"
	"github.com/tailscale/hujson"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/clients"
)

// A file is a typical client configuration, on each system.
type file struct {
	client              string
	linux, mac, windows string
	text                string
	holder, command     string // the container of the entry, and the member with the command
}

// files returns the files of all clients.
func files() []file {
	const (
		support = "Library/Application Support/"
		roaming = "AppData/Roaming/"
		plain   = "{\n  \"mcpServers\": {\n    \"github\": {\n      \"command\": \"npx\",\n      \"args\": [\"-y\", \"gh\"],\n      \"env\": {\"TOKEN\": \"hunter2\"}\n    }\n  }\n}\n"
	)
	return []file{
		{"claude-code", ".claude.json", ".claude.json", ".claude.json", "{\n  \"numStartups\": 4,\n  \"mcpServers\": {},\n  \"projects\": {\n    \"/home/ann/x\": {\n      \"mcpServers\": {\"aai-gateway\": {\"command\": \"another\"}}\n    }\n  }\n}", "mcpServers", "command"},
		{"claude-desktop", ".config/Claude/claude_desktop_config.json", support + "Claude/claude_desktop_config.json", "AppData/Local/Packages/Claude_pzs8sxrjxfjjc/LocalCache/Roaming/Claude/claude_desktop_config.json", plain, "mcpServers", "command"},
		{"cursor", ".cursor/mcp.json", ".cursor/mcp.json", ".cursor/mcp.json", strings.ReplaceAll(plain, "\n", "\r\n"), "mcpServers", "command"},
		{"vscode", ".config/Code/User/mcp.json", support + "Code/User/mcp.json", roaming + "Code/User/mcp.json", "{\n\t\"servers\": {\n\t\t\"a\": {\n\t\t\t\"type\": \"http\", // far away\n\t\t\t\"url\": \"https://a.example\",\n\t\t},\n\t},\n\t\"inputs\": []\n}", "servers", "command"},
		{"vscode-insiders", ".config/Code - Insiders/User/mcp.json", support + "Code - Insiders/User/mcp.json", roaming + "Code - Insiders/User/mcp.json", "{\"inputs\":[],\"servers\":{}}", "servers", "command"},
		{"windsurf", ".config/devin/mcp_config.json", ".config/devin/mcp_config.json", roaming + "devin/mcp_config.json", "\ufeff{}", "mcpServers", "command"},
		{"zed", ".config/zed/settings.json", ".config/zed/settings.json", roaming + "Zed/settings.json", "// Zed settings\n//\n// For information, see the documentation\n{\n  \"ui_font_size\": 16,\n  \"theme\": {\n    \"mode\": \"system\", /* or light */\n  },\n  // \"context_servers\": {}\n}\n", "context_servers", "command"},
		{"gemini", ".gemini/settings.json", ".gemini/settings.json", ".gemini/settings.json", "{\n  \"security\": {\n    \"auth\": {\n      \"selectedType\": \"oauth-personal\"\n    }\n  }\n}", "mcpServers", "command"},
		{"codex", ".codex/config.toml", ".codex/config.toml", ".codex/config.toml", "model = \"gpt-5\"\n# approvals\napproval_policy = \"on-request\"\n\n[mcp_servers.docs]\ncommand = \"npx\"\nargs = [\n  \"-y\", # yes\n  \"docs\",\n]\nenv = { API_KEY = \"sk-1\" }\n\n[projects.\"/home/ann/x\"]\ntrust_level = \"trusted\"", "mcp_servers", "command"},
		{"cline", ".cline/data/settings/cline_mcp_settings.json", ".cline/data/settings/cline_mcp_settings.json", ".cline/data/settings/cline_mcp_settings.json", plain, "mcpServers", "command"},
		{"continue", ".continue/config.yaml", ".continue/config.yaml", ".continue/config.yaml", "name: Local Assistant\nversion: 1.0.0\nschema: v1\nmodels:\n  - name: Claude\n    provider: anthropic\n    apiKey: sk-1\n# what reads the code\ncontext:\n  - provider: code\n", "mcpServers", "command"},
		{"goose", ".config/goose/config.yaml", ".config/goose/config.yaml", roaming + "Block/goose/config/config.yaml", "GOOSE_PROVIDER: openai\nGOOSE_MODEL: gpt-5\nextensions:\n  developer:\n    bundled: true\n    enabled: true\n    name: developer\n    type: builtin\n\n# keep\nGOOSE_MODE: approve\n", "extensions", "cmd"},
		{"lm-studio", ".lmstudio/mcp.json", ".lmstudio/mcp.json", ".lmstudio/mcp.json", plain, "mcpServers", "command"},
		{"jan", ".local/share/Jan/data/mcp_config.json", support + "Jan/data/mcp_config.json", roaming + "Jan/data/mcp_config.json", "{\n  \"mcpServers\": {\n    \"exa\": {\n      \"type\": \"http\",\n      \"url\": \"https://mcp.exa.ai/mcp\",\n      \"active\": true\n    }\n  },\n  \"mcpSettings\": {\n    \"toolCallTimeoutSeconds\": 30\n  }\n}", "mcpServers", "command"},
		{"librechat", "LibreChat/librechat.yaml", "LibreChat/librechat.yaml", "LibreChat/librechat.yaml", "version: 1.3.1\ncache: true\nmcpServers:\n  everything:\n    # type: sse\n    url: http://localhost:3001/sse\n", "mcpServers", "command"},
		{"copilot-cli", ".copilot/mcp-config.json", ".copilot/mcp-config.json", ".copilot/mcp-config.json", "{\n    \"mcpServers\": {\n    }\n}\n", "mcpServers", "command"},
	}
}

func (f file) on(system string) string {
	switch system {
	case "darwin":
		return f.mac
	case "windows":
		return f.windows
	}
	return f.linux
}

// TestEveryClientOnEverySystem checks that each client's file is found, and that the entry is
// added in its form and removed, byte for byte.
func TestEveryClientOnEverySystem(t *testing.T) {
	for _, system := range []string{"linux", "darwin", "windows"} {
		for _, f := range files() {
			t.Run(system+"/"+f.client, func(t *testing.T) {
				w := newWorld(t, system, nil)
				path := f.on(system)
				w.file(path, f.text)
				here := presentClients(w.room)
				assert.Assert(t, is.Contains(here, f.client), "here are %q", here)
				p := w.plan(w.room.Install(f.client, serve()))
				assert.Equal(t, p.Action, clients.ActionAdd)
				assert.Equal(t, p.Client.File, filepath.Join(w.home, path))
				assert.Assert(t, is.Contains(p.Diff, command))
				assert.Assert(t, !strings.Contains(p.Diff, "hunter2"), p.Diff)
				assert.Assert(t, !strings.Contains(p.Diff, "sk-1"), p.Diff)
				w.is(path, f.text)
				w.do(clients.ActionAdd)(p, nil)
				checkEntry(t, f, w.has(path))
				w.do(clients.ActionNone)(w.room.Install(f.client, serve()))
				w.do(clients.ActionRestore)(w.room.Uninstall(f.client))
				w.is(path, f.text)
				w.do(clients.ActionNone)(w.room.Uninstall(f.client))
				w.backups(0)
				w.do(clients.ActionAdd)(w.room.Install(f.client, serve()))
				w.do(clients.ActionRestore)(w.room.Rollback(f.client))
				w.is(path, f.text)
			})
		}
	}
	const manual = 2 // TestManualClients has them
	n := len(newWorld(t, "linux", nil).room.Clients())
	assert.Check(t, is.Equal(n, len(files())+manual), "%d clients are known, and %d tested", n, len(files()))
}

// TestEveryClientWithoutAFile checks that a missing file is created, and deleted again.
func TestEveryClientWithoutAFile(t *testing.T) {
	for _, system := range []string{"linux", "darwin", "windows"} {
		for _, f := range files() {
			t.Run(system+"/"+f.client, func(t *testing.T) {
				w := newWorld(t, system, nil)
				path := f.on(system)
				switch f.client {
				case "librechat":
					t.SkipNow() // TestManualClients: its file is never created
				case "continue": // creating its file would hide an older one
					path, f.text = ".continue/mcpServers/aai-gateway.json", ""
				case "claude-code":
					w.file(".claude/history.jsonl", "")
				}
				assert.NilError(t, os.MkdirAll(filepath.Join(w.home, filepath.Dir(path)), 0o700))
				here := presentClients(w.room)
				assert.Assert(t, is.Contains(here, f.client), "here are %q", here)
				w.do(clients.ActionAdd)(w.room.Install(f.client, serve()))
				checkEntry(t, f, w.has(path))
				w.do(clients.ActionDelete)(w.room.Uninstall(f.client))
				w.is(path, "")
			})
		}
	}
}

// presentClients returns the installed clients.
func presentClients(r *clients.Installer) []string {
	var here []string
	for _, c := range r.Clients() {
		if c.IsPresent {
			here = append(here, c.ID)
		}
	}
	return here
}

// checkEntry reads a file with a parser other than the writer's.
func checkEntry(t *testing.T, f file, text string) {
	t.Helper()
	text = strings.TrimPrefix(text, "\ufeff")
	var all map[string]any
	var err error
	switch {
	case strings.HasPrefix(strings.TrimSpace(text), "{") || strings.HasPrefix(text, "//"):
		var plain []byte
		if plain, err = hujson.Standardize([]byte(text)); err == nil {
			err = json.Unmarshal(plain, &all)
		}
	case f.client == "codex":
		err = toml.Unmarshal([]byte(text), &all)
	default:
		err = goccy.Unmarshal([]byte(text), &all)
	}
	assert.NilError(t, err, text)
	var entry map[string]any
	switch held := all[f.holder].(type) {
	case map[string]any:
		entry, _ = held["aai-gateway"].(map[string]any)
	case []any:
		for _, item := range held {
			if m := item.(map[string]any); m["name"] == "aai-gateway" {
				entry = m
			}
		}
	}
	args, _ := entry["args"].([]any)
	assert.Equal(t, entry[f.command], command, "%v %s", entry, text)
	assert.Assert(t, is.Len(args, 2), "%v %s", entry, text)
	assert.Equal(t, args[0], "mcp", "%v %s", entry, text)
	assert.Equal(t, args[1], "serve", "%v %s", entry, text)
}

// TestPlaces checks the clients' variables, and which of several files counts.
func TestPlaces(t *testing.T) {
	for _, c := range []struct {
		system, client string
		env            map[string]string
		files          []string
		want           string
	}{
		{"linux", "claude-code", map[string]string{"CLAUDE_CONFIG_DIR": "/elsewhere"}, nil, "/elsewhere/.claude.json"},
		{"linux", "claude-code", map[string]string{"CLAUDE_CONFIG_DIR": "relative"}, nil, "~/.claude.json"},
		{"linux", "codex", map[string]string{"CODEX_HOME": "/elsewhere"}, nil, "/elsewhere/config.toml"},
		{"linux", "gemini", map[string]string{"GEMINI_CLI_HOME": "/elsewhere"}, nil, "/elsewhere/.gemini/settings.json"},
		{"linux", "copilot-cli", map[string]string{"COPILOT_HOME": "/elsewhere"}, nil, "/elsewhere/mcp-config.json"},
		{"linux", "goose", map[string]string{"XDG_CONFIG_HOME": "/elsewhere"}, nil, "/elsewhere/goose/config.yaml"},
		{"linux", "vscode", map[string]string{"XDG_CONFIG_HOME": "/elsewhere"}, nil, "/elsewhere/Code/User/mcp.json"},
		{"darwin", "zed", map[string]string{"XDG_CONFIG_HOME": "/elsewhere"}, nil, "~/.config/zed/settings.json"},
		{"darwin", "vscode", map[string]string{"XDG_CONFIG_HOME": "/elsewhere"}, nil, "~/Library/Application Support/Code/User/mcp.json"},
		{"windows", "cursor", nil, nil, "~/.cursor/mcp.json"},
		{"windows", "claude-desktop", nil, nil, "~/AppData/Roaming/Claude/claude_desktop_config.json"},
		{"windows", "claude-desktop", nil, []string{"AppData/Local/Packages/Claude_x/LocalCache/Roaming/Claude/logs/l"}, "~/AppData/Local/Packages/Claude_x/LocalCache/Roaming/Claude/claude_desktop_config.json"},
		{"windows", "claude-desktop", nil, []string{"AppData/Local/Claude-Data/claude_1/x", "AppData/Roaming/Claude/x"}, "~/AppData/Local/Claude-Data/claude_1/claude_desktop_config.json"},
		{"windows", "vscode", map[string]string{"APPDATA": "/elsewhere"}, nil, "/elsewhere/Code/User/mcp.json"},
		{"linux", "windsurf", nil, nil, "~/.config/devin/mcp_config.json"},
		{"linux", "windsurf", nil, []string{".codeium/windsurf/mcp_config.json"}, "~/.codeium/windsurf/mcp_config.json"},
		{"linux", "windsurf", nil, []string{".codeium/windsurf/mcp_config.json", ".config/devin/mcp_config.json"}, "~/.config/devin/mcp_config.json"},
		{"linux", "cline", nil, []string{".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"}, "~/.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"},
		{"linux", "cline", map[string]string{"CLINE_DATA_DIR": "/elsewhere"}, nil, "/elsewhere/settings/cline_mcp_settings.json"},
		{"linux", "continue", nil, []string{".continue/config.json"}, "~/.continue/mcpServers/aai-gateway.json"},
		{"linux", "continue", nil, []string{".continue/config.json", ".continue/config.yaml"}, "~/.continue/config.yaml"},
	} {
		w := newWorld(t, c.system, c.env)
		for _, path := range c.files {
			w.file(path, "")
		}
		for _, known := range w.room.Clients() {
			want := strings.Replace(c.want, "~", w.home, 1)
			assert.Check(t, known.ID != c.client || known.File == want, "%s on %s with %v, %q: %s; expected %s", c.client, c.system, c.env, c.files, known.File, want)
		}
	}
}
