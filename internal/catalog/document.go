package catalog

import (
	"encoding/json"
	"time"

	"github.com/gybob/aai-gateway"
)

// A Document is what a descriptor says, whichever dialect it is written in: the parser
// reads into one, and the app is made of it. Texts are cleaned and cut. What only
// this computer says, such as a usual time-out or where the file was found, is not there.
type Document struct {
	ID          string // as its author wrote it, also where it is from the web
	Name        string // several languages are joined by "|"
	Description string
	Version     string
	Aliases     []string
	Sections    []Section // in the order of the file
	// Generated says of what the descriptor was made; nil: people wrote it.
	Generated *Generated
}

// Generated says of what a descriptor was made by a program. It is for whoever makes it
// again: the gateway runs nothing by it.
type Generated struct {
	From   string `json:"from"`   // such as "dbus:org.example.Mail"
	Digest string `json:"digest"` // of what that said of itself, in hexadecimal SHA-256
}

// A Section is the tools of an app on one platform, and what is said for all of them.
type Section struct {
	Platform string
	// Automation is how the tools are run, as the descriptor names it: an "automation" such as
	// "dbus", or a type of "execution" such as "ipc".
	Automation string
	AppAddress
	Auth  *aai.AuthRecipe // of a web app
	Tools []ToolDeclaration
}

// AppAddress is where a section's tools find the app. Which fields count depends on the
// platform and the way; a tool on D-Bus may differ.
type AppAddress struct {
	Bus         string   `json:"bus,omitzero"`
	Service     string   `json:"service,omitzero"`
	Object      string   `json:"object,omitzero"`
	Interface   string   `json:"interface,omitzero"`
	DesktopFile string   `json:"desktop_file,omitzero"` // the desktop entry that starts the app
	BundleID    string   `json:"bundle_id,omitzero"`    // macos, as the next two
	EventClass  string   `json:"event_class,omitzero"`
	EventID     string   `json:"event_id,omitzero"`
	ProgID      string   `json:"progid,omitzero"`  // windows
	Package     string   `json:"package,omitzero"` // android
	Scheme      string   `json:"scheme,omitzero"`  // ios
	BaseURL     string   `json:"base_url,omitzero"`
	Command     string   `json:"command,omitzero"` // an MCP server's, as the next four
	Args        []string `json:"args,omitzero"`
	Env         []string `json:"env,omitzero"` // names
	Dir         string   `json:"cwd,omitzero"`
	URL         string   `json:"url,omitzero"`
	// Headers are those of each request to a web app, and to an MCP server at a URL.
	Headers map[string]string `json:"default_headers,omitzero"`
}

// A Declared is one tool.
type ToolDeclaration struct {
	Name, Title, Description string
	Group                    string          // the part of the app it is of, where that has many tools
	Params, Returns          json.RawMessage // schemas as written; nil: none
	Effect                   *aai.Effect     // what is claimed; nil: nothing is
	Timeout                  time.Duration   // zero: the usual one
	Recipe                   *aai.Recipe
	Undo                     *UndoTemplate // how it is taken back; nil: it does not say
}
