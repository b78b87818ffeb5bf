package install

import (
	"slices"

	"aai/internal/install/splice"
)

// The systems, as runtime.GOOS names them.
const (
	linux   = "linux"
	macos   = "darwin"
	windows = "windows"
)

// A client is an agent's program that starts MCP servers: where it keeps which, and how
// one looks there.
type client struct {
	id, name string
	// places are files that it may read, the newest way first: the first that is there
	// counts, or else the first whose folder is there, or else the first.
	places []place
	// signs are other files and folders that say that the client is on this computer.
	signs []string
	// fields are an entry.
	fields func(command string, args []string) []splice.Field
	// after is what the person does for the client to see the change.
	after string
}

// A place is a file. Paths begin with what stands for a folder (see folder) and may have a
// * in a name.
type place struct {
	on     []string // the systems; empty: all
	file   string
	format splice.Format // empty: JSON
	path   string        // the key of what holds the entries; empty: "mcpServers"
	list   bool
	// kept says that the file is only added to, and not made: what else must be in it the
	// client knows.
	kept bool
}

// clients are those that are known. Where each keeps its servers says its own
// documentation or its source; docs/decisions/clients.md has the addresses.
func clients() []client {
	return []client{
		{id: "claude-code", name: "Claude Code", fields: stdio,
			places: []place{{file: "<claude>/.claude.json"}}, signs: []string{"~/.claude"},
			after: "Start a new session of Claude Code; /mcp shows the server."},
		{id: "claude-desktop", name: "Claude Desktop", fields: plain,
			places: []place{
				{on: []string{windows}, file: "<local>/Claude-Data/claude*/claude_desktop_config.json"},
				{on: []string{windows}, file: "<local>/Packages/Claude_*/LocalCache/Roaming/Claude/claude_desktop_config.json"},
				{file: "<config>/Claude/claude_desktop_config.json"},
			},
			after: "Quit Claude Desktop and start it again."},
		{id: "cursor", name: "Cursor", fields: plain,
			places: []place{{file: "~/.cursor/mcp.json"}},
			after:  "In Cursor's settings, under MCP, switch the server on if it is off."},
		{id: "vscode", name: "VS Code", fields: stdio,
			places: []place{{file: "<config>/Code/User/mcp.json", path: "servers"}},
			after:  "VS Code asks whether you trust the server when a chat first uses it."},
		{id: "vscode-insiders", name: "VS Code Insiders", fields: stdio,
			places: []place{{file: "<config>/Code - Insiders/User/mcp.json", path: "servers"}},
			after:  "VS Code asks whether you trust the server when a chat first uses it."},
		{id: "windsurf", name: "Windsurf (Devin Desktop)", fields: plain,
			places: []place{
				{on: []string{linux, macos}, file: "<xdg>/devin/mcp_config.json"},
				{on: []string{windows}, file: "<config>/devin/mcp_config.json"},
				{file: "~/.codeium/windsurf/mcp_config.json"},
			},
			after: "Refresh the list of MCP servers in the agent's panel."},
		{id: "zed", name: "Zed", fields: plain,
			places: []place{
				{on: []string{linux, macos}, file: "<zed>/zed/settings.json", path: "context_servers"},
				{on: []string{windows}, file: "<config>/Zed/settings.json", path: "context_servers"},
			},
			after: "Zed sees it at once; the agent panel's settings show the server."},
		{id: "gemini", name: "Gemini CLI", fields: plain,
			places: []place{{file: "<gemini>/.gemini/settings.json"}},
			after:  "Start Gemini CLI anew, in a folder that it trusts; /mcp shows the server."},
		{id: "codex", name: "Codex CLI", fields: plain,
			places: []place{{file: "<codex>/config.toml", format: splice.TOML, path: "mcp_servers"}},
			after:  "Start Codex anew; /mcp shows the server."},
		{id: "cline", name: "Cline", fields: plain,
			places: []place{
				{file: "<cline>/settings/cline_mcp_settings.json"},
				{file: "<config>/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"},
			},
			after: "Cline sees it at once, under MCP Servers."},
		{id: "continue", name: "Continue", fields: plain,
			places: []place{
				{file: "<continue>/config.yaml", format: splice.YAML, list: true, kept: true},
				{file: "<continue>/mcpServers/" + EntryName + ".json"},
			},
			signs: []string{"<continue>"}, after: "Continue sees it at once; its agent mode uses the tools."},
		{id: "goose", name: "Goose", fields: goose,
			places: []place{
				{on: []string{linux, macos}, file: "<xdg>/goose/config.yaml", format: splice.YAML, path: "extensions"},
				{on: []string{windows}, file: "<config>/Block/goose/config/config.yaml", format: splice.YAML, path: "extensions"},
			},
			after: "Start a new session of Goose."},
		{id: "copilot-cli", name: "GitHub Copilot CLI", fields: copilot,
			places: []place{{file: "<copilot>/mcp-config.json"}}, after: "Start Copilot CLI anew; /mcp show lists the server."},
	}
}

// plain is an entry as most clients have it.
func plain(command string, args []string) []splice.Field {
	return []splice.Field{{Name: "command", Value: command}, {Name: "args", Value: args}}
}

// stdio is plain with the transport said.
func stdio(command string, args []string) []splice.Field {
	return slices.Insert(plain(command, args), 0, splice.Field{Name: "type", Value: "stdio"})
}

// copilot is an entry of Copilot CLI, which is told which tools may be used.
func copilot(command string, args []string) []splice.Field {
	return slices.Concat([]splice.Field{{Name: "type", Value: "local"}}, plain(command, args), []splice.Field{{Name: "tools", Value: []string{"*"}}})
}

// goose is an extension of Goose.
func goose(command string, args []string) []splice.Field {
	return []splice.Field{
		{Name: "enabled", Value: true}, {Name: "type", Value: "stdio"}, {Name: "name", Value: EntryName},
		{Name: "description", Value: "Operates the apps of this computer"},
		{Name: "cmd", Value: command}, {Name: "args", Value: args}, {Name: "timeout", Value: 300},
	}
}

// spot is the place of the entry in a text.
func (p place) spot() splice.Place {
	s := splice.Place{Format: splice.JSON, Path: []string{"mcpServers"}, Name: EntryName, List: p.list}
	if p.format != "" {
		s.Format = p.format
	}
	if p.path != "" {
		s.Path = []string{p.path}
	}
	return s
}

// commandOf is what an entry starts.
func commandOf(fields map[string]any) (command string, args []string) {
	command, _ = fields["command"].(string)
	if command == "" {
		command, _ = fields["cmd"].(string)
	}
	list, _ := fields["args"].([]any)
	for _, a := range list {
		if s, ok := a.(string); ok {
			args = append(args, s)
		}
	}
	return command, args
}
