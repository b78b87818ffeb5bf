package aai

import (
	"cmp"
	"encoding/json"
	"time"
)

// A Recipe is a descriptor's instruction for one tool: exactly one of the pointers is set. The
// fields are those of the AAI protocol, section 2.5, and of its single-platform dialect. The
// catalog has checked their form; a Driver checks their meaning.
type Recipe struct {
	// Kind names the driver and the pointer that is set: a kind of the catalog's table, such as
	// "dbus", "ipc", "applescript" or "http". It is empty for a known but unsupported kind.
	Kind      string `json:"-"` // omitted, since the pointer implies it
	App, Tool string
	// Event is the name of the event that the recipe receives, in the place of a tool that it runs.
	Event        string
	Platform     string   // "macos", "windows", "linux", "android", "ios" or "web"
	Params       []string // names of the parameters in the order of the descriptor
	Reversible   bool     `json:"-"` // the previous state may be read and kept for undo: nothing in it is secret
	OutputParser string   // parser for the app's answer; empty: none
	// Start is the id of the desktop entry that starts the app if it does not run and the bus
	// cannot start it, such as "cmus". Empty means no start.
	Start string
	// Starts is the command of that entry at the time of reading the descriptor. A person allows
	// this command, and only it is started. Empty means that this computer has no such entry.
	Starts string

	DBus   *DBusRecipe
	IPC    *IPCRecipe
	Script *ScriptRecipe
	COM    *COMRecipe
	Intent *IntentRecipe
	URL    *URLRecipe
	HTTP   *HTTPRecipe
	MCP    *MCPRecipe
}

// A DBusRecipe calls a method, or reads or sets a property, of a D-Bus object.
type DBusRecipe struct {
	Bus       string // "session" or "system"
	Service   string
	Object    string
	Interface string
	Method    string // either Method or Property is set
	// Signature is the signature of the method's arguments, such as "sas", where the object has
	// several methods of this name. Empty means the one that the arguments fit.
	Signature string
	Property  string
	Access    string // "get" or "set", with Property
	// Signal is the signal of an event, and Fields names its values by position. An empty Object means any.
	Signal string
	Fields []string
	// Running restricts the call to a running program; none is started. Descriptors cannot set
	// it.
	Running bool
	// Args are the method's arguments, or the property's value, by position: constants, or
	// "${param}" for a parameter's value, alone or within a text. Nil means the parameters
	// themselves.
	Args []json.RawMessage
}

// An IPCRecipe sends a JSON envelope with the tool's name to an app that implements the AAI
// protocol. The platform determines the fields in use.
type IPCRecipe struct {
	Bus, Service, Object, Interface string // linux; the protocol has defaults for empty ones
	BundleID                        string // macos
	ProgID                          string // windows
}

// A ScriptRecipe runs a macOS script with ${param} placeholders.
type ScriptRecipe struct {
	Language string // "applescript" or "jxa"
	Script   string
}

// A COMRecipe is a list of steps on COM objects.
type COMRecipe struct {
	ProgID string
	Steps  []COMStep
}

// A COMStep is one step: create, call, set, get, list or return. In its values "${name}" stands for a parameter, or alone for an
// earlier step's variable if no parameter has the name.
type COMStep struct {
	Action, Var, Object, ProgID, Method, Property string
	Value                                         json.RawMessage            // set, return
	Args                                          []json.RawMessage          // call, get, set
	Named                                         map[string]json.RawMessage // call: further arguments by their names
	Properties                                    []string                   // list, get: those of each item, or of the object
	Running                                       bool                       // create: attach to the running instance of the class
}

// An IntentRecipe sends an Android intent.
type IntentRecipe struct {
	Package, Action       string
	Extras                map[string]string // may hold ${param}
	ResultType, ResultURI string
}

// A URLRecipe opens an iOS URL with ${param} placeholders.
type URLRecipe struct {
	Scheme, Template, ResultType, AppGroupID string
}

// An HTTPRecipe sends an HTTP request.
type HTTPRecipe struct {
	BaseURL, Path, Method   string
	Query                   map[string]string // fixed part of the query
	Server                  string            // base URL of this tool, if it is not at BaseURL
	DefaultHeaders, Headers map[string]string
	// Origin is the origin that served the descriptor, such as "https://example.com"; empty for
	// an app that a person installed on this computer.
	Origin string
	Auth   *AuthRecipe // login of the app, or the one that this tool needs; nil: none
	// Public reports that the tool needs no login, although the app has one: Auth is nil.
	Public bool
	// Send maps parameters to their place and encoding. Other parameters go into the path if its
	// braces name them, else into the query of GET, HEAD and DELETE, else into the body.
	Send map[string]SendRecipe
	// Event is the type of the messages of an event stream (text/event-stream) that are the event.
	Event string
}

// Address returns the base URL of the request.
func (h *HTTPRecipe) Address() string { return cmp.Or(h.Server, h.BaseURL) }

// A SendRecipe is the place and encoding of a parameter in an HTTP request, in OpenAPI's terms.
// Empty fields have the defaults.
type SendRecipe struct {
	In   string // "path", "query", "header", "cookie" or "body"
	Name string // name in the request; empty: the parameter's name
	// Style is the encoding of lists and objects: "simple", "label", "matrix", "form",
	// "spaceDelimited", "pipeDelimited", "deepObject" or "json". Empty means "simple" in path and
	// headers, else "form". A JSON body has none.
	Style   string
	Explode *bool // one name=value pair for each value; nil: only with "form"
	Whole   bool  // the value is the whole body, not a member of it
	// File means that the value, or each item of a list, names a file: by its path, or by "result:" and
	// the id of a call with a kept result. The body has the content of the file.
	File  bool
	Media string // content type of the part in a body of several parts; empty: by the value
	// Reserved leaves reserved characters such as "/" and ":" in a query as they are, except those
	// that separate parameters.
	Reserved bool
}

// An MCPRecipe calls a tool of an MCP server, which is started by Command or reached at URL: one
// of the two is set.
type MCPRecipe struct {
	Command string
	Args    []string // "${NAME}" is replaced by the value of the variable NAME in Env
	// Env lists the variables that the server receives in addition to the default ones, or that its
	// Headers contain. No descriptor contains their values.
	Env     []string
	Dir     string // working directory; empty: the home directory
	URL     string
	Headers map[string]string // "${NAME}" as in Args
	Auth    *AuthRecipe       // login at URL; nil: the server determines it, if it needs one
	Tool    string            // the server's name for it; empty: the recipe covers all tools of the server
}

// Login returns the recipe for logging in to the server at URL.
func (m *MCPRecipe) Login() *HTTPRecipe {
	if m.Auth == nil {
		return &HTTPRecipe{BaseURL: m.URL, Auth: &AuthRecipe{Kind: AuthOAuth2}}
	}
	return &HTTPRecipe{BaseURL: m.URL, Auth: m.Auth}
}

// The kinds of AuthRecipe.
const (
	AuthOAuth2        = "oauth2"
	AuthAPIKey        = "apiKey"
	AuthAppCredential = "appCredential" //nolint:gosec // the name of a kind, not a credential
	AuthBearer        = "bearer"
	AuthCookie        = "cookie"
)

// An AuthRecipe describes the login of a web app. It never holds a secret. Kind determines the
// fields in use. Addresses are https, or http to this computer.
type AuthRecipe struct {
	Kind         string // one of the Auth constants
	Login        string // name of the login in an app of several; empty: the app's first one
	Instructions string // third-party text for people, cleaned: how to get the credential
	ObtainURL    string // the page where people get it, or empty

	// AuthOAuth2; if these two are empty, the server's metadata names them
	AuthorizationEndpoint, TokenEndpoint string
	DeviceEndpoint, RevocationEndpoint   string // may be empty
	ClientID                             string // the app's own public client, or empty
	Scopes                               []string
	PKCE                                 string // the descriptor's value, such as "S256"; may be empty

	// AuthAPIKey and AuthBearer: the place of the secret.
	In, Name string // In is "header" or "query"; Name is the header's or the parameter's
	Prefix   string // precedes the secret unchanged, such as "Bearer "
	EnvVar   string // variable that may hold the secret; always empty for descriptors from the web
	// Also lists the places of further keys of the same login. Every request carries them too.
	Also []KeyPlace

	// AuthAppCredential: TokenEndpoint, and
	TokenType string        // "tenantAccessToken", "appAccessToken" or "userAccessToken"
	ExpiresIn time.Duration // of the token

	// AuthCookie
	LoginURL string
	Domain   string   // such as "example.com", without a leading dot; contains BaseURL's host
	Cookies  []string // names of the required cookies
}

// A Driver compiles a Recipe to an Action. The catalog compiles recipes when it loads a descriptor,
// so it finds a bad one before the first call. The error is an *Error with a message that begins
// with the descriptor's field. AAI_JSON_INVALID rejects the whole descriptor. PERMISSION_DENIED, for
// a resource that this gateway must not reach, removes this tool only. Every *Error of the Action
// sets Delivery, since Do replaces an empty one by DeliveryUnknown.
type Driver interface {
	Compile(r *Recipe) (Action, error)
}

// A KeyPlace is the place of a key in a request; its fields are those of [AuthRecipe].
type KeyPlace struct{ In, Name, Prefix string }

// Keys returns the places of the keys in a request, the first one first. It accepts a nil receiver.
func (a *AuthRecipe) Keys() []KeyPlace {
	switch {
	case a == nil:
		return nil
	case a.In == "":
		return a.Also
	}
	return append([]KeyPlace{{a.In, a.Name, a.Prefix}}, a.Also...)
}
