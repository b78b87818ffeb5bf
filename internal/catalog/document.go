package catalog

import (
	"encoding/json"
	"time"

	"github.com/gybob/aai-gateway"
)

// A Document is the content of a descriptor, independent of its dialect. The parser reads a
// descriptor into one, and builds the app from it. Texts are cleaned and cut. It contains no data
// of this computer, such as a default timeout or the file's path.
type Document struct {
	ID          string // as written; App.ID of a web app has the host in front
	Name        string // several languages are joined by "|"
	Description string
	Version     string
	Aliases     []string
	Sections    []Section // in the order of the file
	// Generated describes the source of a generated descriptor; nil: written by hand.
	Generated *Generated
}

// Generated describes the source of a generated descriptor, for a program that regenerates it.
// The gateway runs nothing because of it.
type Generated struct {
	From   string `json:"from"`   // such as "dbus:org.example.Mail"
	Digest string `json:"digest"` // hexadecimal SHA-256 of the source's data
}

// A Section holds the tools of an app on one platform, with their common settings.
type Section struct {
	Platform string
	// Automation names the mechanism of the tools, as in the descriptor: an "automation" such as
	// "dbus", or a type of "execution" such as "ipc".
	Automation string
	AppAddress
	Auth   *aai.AuthRecipe            // of a web app
	Logins map[string]*aai.AuthRecipe // its further logins, by name
	Tools  []ToolDeclaration
	Events []ToolDeclaration // events that the app reports; of each only the name, the description and the recipe
}

// AppAddress holds a section's settings for reaching the app. The platform and the mechanism determine the fields
// that apply. A D-Bus tool may override Bus, Service, Object and Interface.
type AppAddress struct {
	Bus         string   `json:"bus,omitzero"`
	Service     string   `json:"service,omitzero"`
	Object      string   `json:"object,omitzero"`
	Interface   string   `json:"interface,omitzero"`
	DesktopFile string   `json:"desktop_file,omitzero"` // the desktop entry that starts the app
	BundleID    string   `json:"bundle_id,omitzero"`    // macos, like the next two
	EventClass  string   `json:"event_class,omitzero"`
	EventID     string   `json:"event_id,omitzero"`
	ProgID      string   `json:"progid,omitzero"`  // windows
	Package     string   `json:"package,omitzero"` // android
	Scheme      string   `json:"scheme,omitzero"`  // ios
	BaseURL     string   `json:"base_url,omitzero"`
	Command     string   `json:"command,omitzero"` // of an MCP server, like the next four
	Args        []string `json:"args,omitzero"`
	Env         []string `json:"env,omitzero"` // names
	Dir         string   `json:"cwd,omitzero"`
	URL         string   `json:"url,omitzero"`
	// Headers are sent with each request to a web app, or to an MCP server at a URL.
	Headers map[string]string `json:"default_headers,omitzero"`
}

// A ToolDeclaration is one tool as the descriptor declares it, without the defaults of this computer.
type ToolDeclaration struct {
	Name, Title, Description string
	Group                    string          // the group of the tool in a large app
	Params, Returns          json.RawMessage // schemas as written; nil: none
	Effect                   *aai.Effect     // the claimed effect; nil: none
	Timeout                  time.Duration   // zero: the default
	Recipe                   *aai.Recipe
	Undo                     *UndoTemplate // how to undo the tool; nil: undeclared
}
