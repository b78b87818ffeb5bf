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
	// rejects are the extras of JSON with which the client does not read its file, as its own "mcp list" or its
	// source code shows.
	rejects []splice.Extra
	// hasServerLists means that the lists mcp.excluded and mcp.allowed of the file name the started servers.
	hasServerLists bool
	// manual returns the text and the link by which a person adds the entry, where the client keeps its servers in
	// no file that the gateway can edit.
	manual func(command string, args []string) (text, link string)
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
func clients() []client { return slices.Concat(agentClients(), terminalClients(), chatClients()) }

func agentClients() []client {
	return []client{
		{id: "claude-code", name: "Claude Code", fields: stdioEntry,
			places: []place{{file: "<claude>/.claude.json"}}, markers: []string{"~/.claude"},
			rejects: []splice.Extra{splice.Comment, splice.TrailingComma}, projects: "projects", projectPlaces: []place{{file: ".mcp.json"}},
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
	}
}

// terminalClients returns the agents for terminals other than Claude Code.
func terminalClients() []client {
	return []client{
		{id: "gemini", name: "Gemini CLI", fields: standardEntry,
			places: []place{{file: "<gemini>/.gemini/settings.json"}}, projectPlaces: []place{{file: ".gemini/settings.json"}},
			rejects: []splice.Extra{splice.ByteOrderMark, splice.TrailingComma}, hasServerLists: true,
			nextStep: "Start Gemini CLI anew, in a folder that it trusts; /mcp shows the server."},
		{id: "codex", name: "Codex CLI", fields: standardEntry,
			places:        []place{{file: "<codex>/config.toml", format: splice.TOML, path: "mcp_servers"}},
			projectPlaces: []place{{file: ".codex/config.toml", format: splice.TOML, path: "mcp_servers"}},
			nextStep:      "Start Codex anew; /mcp shows the server."},
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

// chatClients returns the programs for chats, which start servers too.
func chatClients() []client {
	return []client{
		{id: "lm-studio", name: "LM Studio", fields: standardEntry,
			places:   []place{{file: "<lmstudio>/mcp.json"}},
			nextStep: "In LM Studio, on the tab Program of the right side, switch the server on."},
		{id: "jan", name: "Jan", fields: janEntry,
			places:   []place{{file: "<jan>/mcp_config.json"}},
			rejects:  []splice.Extra{splice.ByteOrderMark, splice.Comment, splice.TrailingComma},
			nextStep: "Quit Jan and start it again; Settings > MCP Servers shows the server."},
		{id: "librechat", name: "LibreChat", fields: stdioEntry, manual: manualYAML,
			places:   []place{{file: "~/LibreChat/librechat.yaml", format: splice.YAML, addOnly: true}},
			nextStep: "Start LibreChat anew, on this computer and not in a container: the server operates the desktop on which LibreChat runs."},
		{id: "cherry-studio", name: "Cherry Studio", fields: stdioEntry, manual: manualCherry, markers: []string{"<config>/CherryStudio"},
			nextStep: "Open the link, or give the text in Settings > MCP Servers > Add > Import from JSON; then switch the server on."},
		{id: "lobehub", name: "LobeHub", fields: stdioEntry, manual: manualLobeHub,
			nextStep: "Open the link with LobeHub's desktop app, or give the text as the JSON of a custom MCP server."},
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
