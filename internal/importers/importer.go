// Package importers converts a person's existing resources to apps: APIs by their OpenAPI documents, and
// the MCP servers of agents' clients. A [Source] drafts a change of the descriptor folder, which a person
// reviews. A second call, which names the digest of the reviewed change, saves it.
//
// [Importer] provides the tools of the builtin app. They are for people only, because a saved descriptor
// relaxes policy checks. [ReadOpenAPI] converts a document without I/O; it enforces limits before a
// library parses the untrusted text, and reports every skipped operation with the reason.
// [DescriptorStore] is the descriptor folder: it plans changes, and their undo.
package importers

import (
	"context"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/schema"
)

// Names of the importer's tools in the builtin app; see [Importer.Tools].
const (
	ShowOpenAPITool = "import_openapi"
	SaveOpenAPITool = "import_openapi_save"
	ShowServersTool = "import_servers"
	SaveServersTool = "import_servers_save"
	ShowUndoTool    = "import_undo"
	SaveUndoTool    = "import_undo_save"
)

// Config configures an Importer.
type Config struct {
	// Folder stores the person's descriptors, each in a folder named by its app's id.
	Folder string
	// UndoFolder stores the record of the last import for its undo; empty: no undo.
	UndoFolder string
	// Platform is the platform of this computer: "linux", "macos" or "windows".
	Platform string
	// Fetch downloads a web page of at most most bytes; may be nil.
	Fetch func(ctx context.Context, address string, most int) ([]byte, error)
	// Driver decides which operations of an API become tools: those that it compiles; nil: all.
	Driver aai.Driver
	// IsDestructive reports whether words suggest irreversible effects.
	IsDestructive func(words string) bool
	// CurrentFolder is the folder in which the person runs a command: its project's servers are imported too. Empty: none.
	CurrentFolder string
	// Clients accesses the agents' clients on this computer; may be nil.
	Clients Clients
	// Secrets stores the values of servers' variables; may be nil.
	Secrets Secrets
	// Logins stores the keys of remote servers; may be nil.
	Logins Logins
}

// Secrets stores secrets in encrypted form.
type Secrets interface {
	// Update replaces the secret under the id by the result of edit; nil removes it.
	Update(ctx context.Context, id string, edit func(old []byte) ([]byte, error)) error
}

// Logins stores credentials for servers.
type Logins interface {
	// ReplaceCredentials stores credentials for the recipe's app, by field name, and returns the
	// previous ones. Nil values delete them.
	ReplaceCredentials(ctx context.Context, r *aai.Recipe, values map[string]string) (before map[string]string, err error)
}

// An Importer converts APIs and clients' MCP servers to apps. It is safe for concurrent use.
type Importer struct{ cfg Config }

// New returns an Importer. It does no I/O.
func New(cfg Config) *Importer { return &Importer{cfg} }

// importTimeout limits the download and conversion of a document.
const importTimeout = 2 * time.Minute

// Tools returns the importer's tools for the builtin app. Each "Save" tool carries out the changes that its "Show"
// tool has shown.
func (r *Importer) Tools() []*aai.Tool {
	api, servers, undo := Source(r.draftAPI), Source(r.draftServers), Source(r.draftUndo)
	return []*aai.Tool{
		tool(ShowOpenAPITool, "Show an API as an app, by its OpenAPI document", apiParams+"}", "source", aai.Reads, api.Show),
		tool(SaveOpenAPITool, "Save the app that import_openapi has shown", apiParams+seenParam, "source",
			aai.Changes, api.Save),
		tool(ShowServersTool, "Show the MCP servers of an agent's client as apps", serversParams+"}", "client",
			aai.Reads, servers.Show),
		tool(SaveServersTool, "Save the apps that import_servers has shown", serversParams+seenParam, "client",
			aai.Changes, servers.Save),
		tool(ShowUndoTool, "Show what undoing the last import would change", "{}", "", aai.Reads, undo.Show),
		tool(SaveUndoTool, "Undo the last import, as import_undo has shown it", "{"+strings.TrimPrefix(seenParam, ","), "",
			aai.Changes, undo.Save),
	}
}

// tool returns a tool. It requires the parameter named by required, and "seen" if it changes something.
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
		Effect: effect, Limits: aai.Limits{Timeout: importTimeout}, Run: run,
	}
}

const seenParam = `,
	"seen": {"type": "string", "minLength": 64, "maxLength": 64, "description": "As it was given with the preview"}}`

// stringArg returns the named argument, or "" if it is absent.
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
