package clients

import (
	"slices"

	"github.com/gybob/aai-gateway/internal/clients/splice"
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
	// markers are other files and folders that say that the client is on this computer.
	markers []string
	// fields are an entry.
	fields func(command string, args []string) []splice.Field
	// nextStep is what the person does for the client to see the change.
	nextStep string
}

// A place is a file. Paths begin with what stands for a folder (see folder) and may have a
// * in a name.
type place struct {
	systems []string // the systems; empty: all
	file    string
	format  splice.Format // empty: JSON
	path    string        // the key of what holds the entries; empty: "mcpServers"
	list    bool
	// addOnly says that the file is only added to, and not made: what else must be in it the
	// client knows.
	addOnly bool
}

// clients are those that are known. Where each keeps its servers says its own
// documentation or its source; docs/decisions/clients.md has the addresses.
func clients() []client {
	return []client{
		{id: "claude-code", name: "Claude Code", fields: stdioEntry,
			places: []place{{file: "<claude>/.claude.json"}}, markers: []string{"~/.claude"},
			nextStep: "Start a new session of Claude Code; /mcp shows the server."},
		{id: "claude-desktop", name: "Claude Desktop", fields: standardEntry,
			places: []place{
				{systems: []string{windows}, file: "<local>/Claude-Data/claude*/claude_desktop_config.json"},
				{systems: []string{windows}, file: "<local>/Packages/Claude_*/LocalCache/Roaming/Claude/claude_desktop_config.json"},
				{file: "<config>/Claude/claude_desktop_config.json"},
			},
			nextStep: "Quit Claude Desktop and start it again."},
		{id: "cursor", name: "Cursor", fields: standardEntry,
			places:   []place{{file: "~/.cursor/mcp.json"}},
			nextStep: "In Cursor's settings, under MCP, switch the server on if it is off."},
		{id: "vscode", name: "VS Code", fields: stdioEntry,
			places:   []place{{file: "<config>/Code/User/mcp.json", path: "servers"}},
			nextStep: "VS Code asks whether you trust the server when a chat first uses it."},
		{id: "vscode-insiders", name: "VS Code Insiders", fields: stdioEntry,
			places:   []place{{file: "<config>/Code - Insiders/User/mcp.json", path: "servers"}},
			nextStep: "VS Code asks whether you trust the server when a chat first uses it."},
		{id: "windsurf", name: "Windsurf (Devin Desktop)", fields: standardEntry,
			places: []place{
				{systems: []string{linux, macos}, file: "<xdg>/devin/mcp_config.json"},
				{systems: []string{windows}, file: "<config>/devin/mcp_config.json"},
				{file: "~/.codeium/windsurf/mcp_config.json"},
			},
			nextStep: "Refresh the list of MCP servers in the agent's panel."},
		{id: "zed", name: "Zed", fields: standardEntry,
			places: []place{
				{systems: []string{linux, macos}, file: "<zed>/zed/settings.json", path: "context_servers"},
				{systems: []string{windows}, file: "<config>/Zed/settings.json", path: "context_servers"},
			},
			nextStep: "Zed sees it at once; the agent panel's settings show the server."},
		{id: "gemini", name: "Gemini CLI", fields: standardEntry,
			places:   []place{{file: "<gemini>/.gemini/settings.json"}},
			nextStep: "Start Gemini CLI anew, in a folder that it trusts; /mcp shows the server."},
		{id: "codex", name: "Codex CLI", fields: standardEntry,
			places:   []place{{file: "<codex>/config.toml", format: splice.TOML, path: "mcp_servers"}},
			nextStep: "Start Codex anew; /mcp shows the server."},
		{id: "cline", name: "Cline", fields: standardEntry,
			places: []place{
				{file: "<cline>/settings/cline_mcp_settings.json"},
				{file: "<config>/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"},
			},
			nextStep: "Cline sees it at once, under MCP Servers."},
		{id: "continue", name: "Continue", fields: standardEntry,
			places: []place{
				{file: "<continue>/config.yaml", format: splice.YAML, list: true, addOnly: true},
				{file: "<continue>/mcpServers/" + EntryName + ".json"},
			},
			markers: []string{"<continue>"}, nextStep: "Continue sees it at once; its agent mode uses the tools."},
		{id: "goose", name: "Goose", fields: gooseEntry,
			places: []place{
				{systems: []string{linux, macos}, file: "<xdg>/goose/config.yaml", format: splice.YAML, path: "extensions"},
				{systems: []string{windows}, file: "<config>/Block/goose/config/config.yaml", format: splice.YAML, path: "extensions"},
			},
			nextStep: "Start a new session of Goose."},
		{id: "copilot-cli", name: "GitHub Copilot CLI", fields: copilotEntry,
			places: []place{{file: "<copilot>/mcp-config.json"}}, nextStep: "Start Copilot CLI anew; /mcp show lists the server."},
	}
}

// standardEntry is an entry as most clients have it.
func standardEntry(command string, args []string) []splice.Field {
	return []splice.Field{{Name: "command", Value: command}, {Name: "args", Value: args}}
}

// stdioEntry is plain with the transport said.
func stdioEntry(command string, args []string) []splice.Field {
	return slices.Insert(standardEntry(command, args), 0, splice.Field{Name: "type", Value: "stdio"})
}

// copilotEntry is an entry of Copilot CLI, which is told which tools may be used.
func copilotEntry(command string, args []string) []splice.Field {
	return slices.Concat([]splice.Field{{Name: "type", Value: "local"}}, standardEntry(command, args), []splice.Field{{Name: "tools", Value: []string{"*"}}})
}

// gooseEntry is an extension of Goose.
func gooseEntry(command string, args []string) []splice.Field {
	return []splice.Field{
		{Name: "enabled", Value: true}, {Name: "type", Value: "stdio"}, {Name: "name", Value: EntryName},
		{Name: "description", Value: "Operates the apps of this computer"},
		{Name: "cmd", Value: command}, {Name: "args", Value: args}, {Name: "timeout", Value: 300},
	}
}

// splicePlace is the place of the entry in a text.
func (p place) splicePlace() splice.Place {
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
