package imports

// Clients are the agents' clients of this computer, with the MCP servers that they start.
type Clients interface {
	// Servers are those of a client but for this gateway, by their names.
	Servers(client string) (map[string]map[string]any, error)
}
