// Package imports is what a person has already, taken over as apps: an API by its OpenAPI
// document, and the MCP servers of an agent's client. Both are shown before, as what would
// change in the folder where a person's descriptors stand, and are saved by a second call that
// names what was shown.
//
// Its tools are of the gateway's own app, and for people alone: what is saved lowers what
// the gates ask for.
package importers

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/schema"
)

// The names of the tools.
const (
	ShowOpenAPITool = "import_openapi"
	SaveOpenAPITool = "import_openapi_save"
	ShowServersTool = "import_servers"
	SaveServersTool = "import_servers_save"
	ShowUndoTool    = "import_undo"
	SaveUndoTool    = "import_undo_save"
)

// Config is what the room stands on.
type Config struct {
	// Folder is where the person's descriptors stand, each in a folder of its app's id.
	Folder string
	// UndoFolder is the folder of what the last import was, to take it back; empty: none can be.
	UndoFolder string
	// Platform is this computer's: "linux", "macos" or "windows".
	Platform string
	// Fetch gets a page of the web of at most so many bytes; nil: nobody can.
	Fetch func(ctx context.Context, address string, most int) ([]byte, error)
	// Driver says which operations of an API can be sent.
	Driver aai.Driver
	// IsDestructive reports whether words speak of what cannot be brought back.
	IsDestructive func(words string) bool
	// Clients are the agents' clients of this computer; nil: there are none.
	Clients Clients
	// Secrets keep the values of servers' variables; nil: none can be kept.
	Secrets Secrets
	// Logins keep the keys of servers at addresses; nil: none can be kept.
	Logins Logins
}

// Secrets keep what must not lie readable on the disk.
type Secrets interface {
	// Update replaces what is kept under the id by what edit makes of it.
	Update(ctx context.Context, id string, edit func(old []byte) ([]byte, error)) error
}

// Logins keep by what a person is known to a server.
type Logins interface {
	// ReplaceCredentials keeps what is given for the app of the recipe, by the names of what it asks
	// for, and returns what was kept before; nil values forget it.
	ReplaceCredentials(ctx context.Context, r *aai.Recipe, values map[string]string) (before map[string]string, err error)
}

// A Room imports. It is safe for concurrent use.
type Importer struct{ cfg Config }

// New returns a room. It does no I/O.
func New(cfg Config) *Importer { return &Importer{cfg} }

// importTimeout is how long a document may be on its way and read.
const importTimeout = 2 * time.Minute

// Tools are the tools of the gateway's own app.
func (r *Importer) Tools() []*aai.Tool {
	return []*aai.Tool{
		tool(ShowOpenAPITool, "Show an API as an app, by its OpenAPI document", apiParams+"}", "source", aai.Reads, r.showAPI),
		tool(SaveOpenAPITool, "Save the app that import_openapi has shown", apiParams+seenParam, "source", aai.Changes, r.saveAPI),
		tool(ShowServersTool, "Show the MCP servers of an agent's client as apps", serversParams+"}", "client", aai.Reads, r.showServers),
		tool(SaveServersTool, "Save the apps that import_servers has shown", serversParams+seenParam, "client", aai.Changes, r.saveServers),
		tool(ShowUndoTool, "Show what taking the last import back would change", "{}", "", aai.Reads, r.showUndo),
		tool(SaveUndoTool, "Take the last import back, as import_undo has shown it", "{"+strings.TrimPrefix(seenParam, ","), "", aai.Changes, r.undo),
	}
}

// tool is one of them.
func tool(name, description, params, required string, effect aai.Effect, run aai.Action) *aai.Tool {
	needs := []string{}
	if required != "" {
		needs = append(needs, `"`+required+`"`)
	}
	if effect != aai.Reads {
		needs = append(needs, `"seen"`)
	}
	whole := `{"type": "object", "additionalProperties": false, "required": [` + strings.Join(needs, ", ")
	return &aai.Tool{
		Name: name, Description: description, Params: schema.MustParse(whole + `], "properties": ` + params + "}"),
		Effect: effect, Timeout: importTimeout, Run: markUndelivered(run),
	}
}

const seenParam = `,
	"seen": {"type": "string", "minLength": 64, "maxLength": 64, "description": "As it was given for what was shown"}}`

// markUndelivered is an Action whose errors come before anything was changed, unless they say
// otherwise.
func markUndelivered(run aai.Action) aai.Action {
	return func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
		result, err := run(ctx, call)
		if err == nil {
			return result, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		e := *aai.AsError(err)
		e.Delivery = cmp.Or(e.Delivery, aai.NotDelivered)
		return nil, &e
	}
}

// stringArg returns the named argument, or "" where it was not given.
func stringArg(call *aai.Call, name string) string {
	s, _ := call.Args[name].(string)
	return s
}

// stringsArg returns the named argument that is a list of strings.
func stringsArg(call *aai.Call, name string) []string {
	list, _ := call.Args[name].([]any)
	var all []string
	for _, item := range list {
		if s, ok := item.(string); ok {
			all = append(all, s)
		}
	}
	return all
}

// A change is what an import would do with one descriptor.
type descriptorPreview struct {
	App   string `json:"app"`
	Name  string `json:"name"`
	Path  string `json:"path"` // where it would be saved
	Same  bool   `json:"same,omitempty"`
	Tools int    `json:"tools,omitempty"`
	Diff  string `json:"diff,omitempty"`
	// DiffOmitted is how many lines of the difference are left out.
	DiffOmitted int      `json:"diff_lines_omitted,omitempty"`
	Changes     []string `json:"changes,omitempty"` // for agents, of one that was there
	Notes       []string `json:"notes,omitempty"`

	planned DescriptorChange
}
