package clients

import (
	"slices"

	"github.com/gybob/aai-gateway/internal/clients/splice"
)

// Operating systems, as in runtime.GOOS.
const (
	linux   = "linux"
	macos   = "darwin"
	windows = "windows"
)

// A client is an agent program that starts MCP servers. It defines the client's configuration
// files and the form of an entry.
type client struct {
	id, name string
	// places are configuration files, newest location first. The first existing file counts, else
	// the first one with an existing folder, else the first one.
	places []place
	// projectPlaces are the client's files in a project's folder; their paths are below it.
	projectPlaces []place
	// projects is the key of the client's own file with an object for each project, whose mcpServers are
	// the project's.
	projects string
	// markers are other files and folders. One that exists shows that the client is installed.
	markers []string
	// fields returns the fields of an entry.
	fields func(command string, args []string) []splice.Field
	// nextStep tells the person how to make the client load the change.
	nextStep string
}

// A place is a configuration file. Paths begin with a folder placeholder (see folder) and may
// have a * in a name.
type place struct {
	systems []string // empty: all systems
	file    string
	format  splice.Format // empty: JSON
	path    string        // the key of the entries; empty: "mcpServers"
	list    bool
	// addOnly means that the file is edited but never created, because only the client knows its
	// other contents.
	addOnly bool
}

// clients returns the known clients. The locations come from each client's documentation or
// source code; docs/decisions/clients.md lists the addresses.
func clients() []client {
	return []client{
		{id: "claude-code", name: "Claude Code", fields: stdioEntry,
			places: []place{{file: "<claude>/.claude.json"}}, markers: []string{"~/.claude"},
			projects: "projects", projectPlaces: []place{{file: ".mcp.json"}},
			nextStep: "Start a new session of Claude Code; /mcp shows the server."},
		{id: "claude-desktop", name: "Claude Desktop", fields: standardEntry,
			places: []place{
				{systems: []string{windows}, file: "<local>/Claude-Data/claude*/claude_desktop_config.json"},
				{systems: []string{windows}, file: "<local>/Packages/Claude_*/LocalCache/Roaming/Claude/claude_desktop_config.json"},
				{file: "<config>/Claude/claude_desktop_config.json"},
			},
			nextStep: "Quit Claude Desktop and start it again."},
		{id: "cursor", name: "Cursor", fields: standardEntry,
			places: []place{{file: "~/.cursor/mcp.json"}}, projectPlaces: []place{{file: ".cursor/mcp.json"}},
			nextStep: "In Cursor's settings, under MCP, switch the server on if it is off."},
		{id: "vscode", name: "VS Code", fields: stdioEntry,
			places:        []place{{file: "<config>/Code/User/mcp.json", path: "servers"}},
			projectPlaces: []place{{file: ".vscode/mcp.json", path: "servers"}},
			nextStep:      "VS Code asks whether you trust the server when a chat first uses it."},
		{id: "vscode-insiders", name: "VS Code Insiders", fields: stdioEntry,
			places:        []place{{file: "<config>/Code - Insiders/User/mcp.json", path: "servers"}},
			projectPlaces: []place{{file: ".vscode/mcp.json", path: "servers"}},
			nextStep:      "VS Code asks whether you trust the server when a chat first uses it."},
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
			places: []place{{file: "<gemini>/.gemini/settings.json"}}, projectPlaces: []place{{file: ".gemini/settings.json"}},
			nextStep: "Start Gemini CLI anew, in a folder that it trusts; /mcp shows the server."},
		{id: "codex", name: "Codex CLI", fields: standardEntry,
			places:        []place{{file: "<codex>/config.toml", format: splice.TOML, path: "mcp_servers"}},
			projectPlaces: []place{{file: ".codex/config.toml", format: splice.TOML, path: "mcp_servers"}},
			nextStep:      "Start Codex anew; /mcp shows the server."},
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

// standardEntry returns the fields that most clients use.
func standardEntry(command string, args []string) []splice.Field {
	return []splice.Field{{Name: "command", Value: command}, {Name: "args", Value: args}}
}

// stdioEntry is standardEntry with the transport type.
func stdioEntry(command string, args []string) []splice.Field {
	return slices.Insert(standardEntry(command, args), 0, splice.Field{Name: "type", Value: "stdio"})
}

// copilotEntry returns an entry of Copilot CLI, which lists the allowed tools.
func copilotEntry(command string, args []string) []splice.Field {
	return slices.Concat([]splice.Field{{Name: "type", Value: "local"}}, standardEntry(command, args),
		[]splice.Field{{Name: "tools", Value: []string{"*"}}})
}

// gooseEntry returns the fields of an entry of Goose, which calls it an extension.
func gooseEntry(command string, args []string) []splice.Field {
	return []splice.Field{
		{Name: "enabled", Value: true}, {Name: "type", Value: "stdio"}, {Name: "name", Value: EntryName},
		{Name: "description", Value: "Operates the apps of this computer"},
		{Name: "cmd", Value: command}, {Name: "args", Value: args}, {Name: "timeout", Value: 300},
	}
}

// splicePlace returns the place of the entry in the file's text.
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

// commandOf returns the command and arguments of an entry.
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
