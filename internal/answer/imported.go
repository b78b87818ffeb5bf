package answer

import "encoding/json"

// A DraftedApp is the planned change of an app's descriptor.
type DraftedApp struct {
	App   string `json:"app"`
	Name  string `json:"name"`
	Path  string `json:"path"` // target path
	Same  bool   `json:"same,omitempty"`
	Tools int    `json:"tools,omitempty"`
	Diff  string `json:"diff,omitempty"`
	// DiffOmitted is the number of omitted diff lines.
	DiffOmitted int      `json:"diff_lines_omitted,omitempty"`
	Changes     []string `json:"changes,omitempty"` // for agents, relative to an existing descriptor
	Notes       []string `json:"notes,omitempty"`
}

// A DraftedAPI is the planned import of an API.
type DraftedAPI struct {
	DraftedApp
	Seen       string             `json:"seen"` // the digest that a save must name
	BaseURL    string             `json:"base_url"`
	Login      string             `json:"login,omitempty"`
	Operations int                `json:"operations"` // number in the requested groups
	Groups     []APIGroup         `json:"groups"`     // in the order of the tools
	Left       []SkippedOperation `json:"left_out"`
}

// APIGroup is a group of an API's operations, and the number of tools made of them.
type APIGroup struct {
	Name  string `json:"group"`
	Tools int    `json:"tools"`
}

// A SkippedOperation is an operation of the API that did not become a tool.
type SkippedOperation struct {
	Operation string `json:"operation"` // such as "POST /files"
	Reason    string `json:"why"`
}

// DraftedServers is the planned import of a client's MCP servers.
type DraftedServers struct {
	Client  string          `json:"client"`
	File    string          `json:"file"`
	Seen    string          `json:"seen"` // the digest that a save must name
	Apps    []DraftedServer `json:"apps"`
	Left    []SkippedServer `json:"left_out"`
	Replace *ClientChange   `json:"replace,omitempty"`
}

// A DraftedServer is the planned import of an MCP server, without values.
type DraftedServer struct {
	DraftedApp
	Server    string   `json:"server"`
	Place     string   `json:"place,omitempty"`     // in the client's configuration, if not among those for all projects
	Variables []string `json:"variables,omitempty"` // variables with values for the vault
	Login     string   `json:"login,omitempty"`     // the place of its key, which goes into the vault too
}

// A SkippedServer is an MCP server that cannot be imported.
type SkippedServer struct {
	Server string `json:"server"`
	Reason string `json:"why"`
}

// A ClientChange is the planned change of a client's configuration.
type ClientChange struct {
	Diff  string   `json:"diff"`
	Notes []string `json:"notes,omitempty"`
	After string   `json:"after,omitempty"` // the next step
}

// An ImportUndo is the planned undo of the last import.
type ImportUndo struct {
	From string    `json:"from"`
	At   string    `json:"at"`
	Seen string    `json:"seen"` // the digest that the undo must name
	Apps []AppUndo `json:"apps"`
	// Vaulted lists the apps with vault values to restore.
	Vaulted []string `json:"vaulted,omitempty"`
	Note    string   `json:"note,omitempty"`
}

// An AppUndo is the planned undo of one app's import.
type AppUndo struct {
	App  string `json:"app"`
	Path string `json:"path"`
	Does string `json:"does"` // "removed", "put back", or "as it was"
	Diff string `json:"diff,omitempty"`
}

// A GeneratedApp is the planned change of a descriptor that is generated from a running program.
type GeneratedApp struct {
	App    string          `json:"app"`
	Path   string          `json:"path,omitempty"` // target path
	Seen   string          `json:"seen"`           // the digest that a save must name
	Same   bool            `json:"same,omitempty"` // the existing file is identical
	Tools  int             `json:"tools"`
	Tokens int             `json:"guide_tokens"`
	Diff   string          `json:"diff,omitempty"`
	Notes  []string        `json:"notes,omitempty"`
	Text   json.RawMessage `json:"descriptor"`
	// The following fields are for agents, which cannot save.
	Lint  []LintFinding   `json:"lint,omitempty"`
	Words json.RawMessage `json:"words,omitempty"` // as given, or as a model wrote them
	Save  string          `json:"save,omitempty"`  // how the person saves it
}
