package aai

import (
	"encoding/json"
	"time"
)

// A Recipe is how a descriptor wants one tool run: exactly one of the pointers is
// set. The fields are those of the AAI protocol, section 2.5, and of its single-
// platform dialect; the catalog has checked their form, a Driver checks their
// sense.
type Recipe struct {
	// Kind says which of the pointers is set, and so names the driver: one of the
	// catalog's table, such as "dbus", "ipc", "applescript" or "http". It is empty where
	// the way is known but not supported.
	Kind         string `json:"-"` // the pointer says the same
	App, Tool    string
	Platform     string   // "macos", "windows", "linux", "android", "ios" or "web"
	Params       []string // the parameters' names in the order of the descriptor
	Reversible   bool     `json:"-"` // what it replaces may be read and kept, so that it can be put back: nothing of it is secret
	OutputParser string   // how the app's answer is to be read; empty means as it is
	// Start is the id of the desktop entry by which the app is started where it does not
	// run and the bus cannot start it, such as "cmus"; empty: it is not.
	Start string
	// Starts is the command of that entry, as it was when the descriptor was read: what a
	// person allows, and all that is started. Empty: this computer has no such entry.
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
	Method    string // or:
	Property  string
	Access    string // "get" or "set", with Property
	// Running says that the call is for a program that runs: none is started for it. No
	// descriptor says so.
	Running bool
	// Args are what the method takes, or the property becomes, by position: constants,
	// and "${param}" for the parameter's value as it is, or within a longer text. Nil means
	// the parameters themselves.
	Args []json.RawMessage
}

// An IPCRecipe hands a JSON envelope with the tool's name to an app that speaks
// the AAI protocol itself. Which fields are used depends on the platform.
type IPCRecipe struct {
	Bus, Service, Object, Interface string // linux; empty ones have the protocol's defaults
	BundleID                        string // macos
	ProgID                          string // windows
}

// A ScriptRecipe runs a script for macOS with ${param} in places.
type ScriptRecipe struct {
	Language string // "applescript" or "jxa"
	Script   string
}

// A COMRecipe is a list of steps on COM objects.
type COMRecipe struct {
	ProgID string
	Steps  []COMStep
}

// A COMStep is one step: create, call, set, get or return.
type COMStep struct {
	Action, Var, Object, ProgID, Method, Property string
	Value                                         json.RawMessage   // set, return; may hold ${param}
	Args                                          []json.RawMessage // call; may hold ${param}
}

// An IntentRecipe sends an Android intent.
type IntentRecipe struct {
	Package, Action       string
	Extras                map[string]string // may hold ${param}
	ResultType, ResultURI string
}

// A URLRecipe opens an iOS URL with ${param} in places.
type URLRecipe struct {
	Scheme, Template, ResultType, AppGroupID string
}

// An HTTPRecipe sends an HTTP request.
type HTTPRecipe struct {
	BaseURL, Path, Method   string
	DefaultHeaders, Headers map[string]string
	// Origin is where the descriptor was fetched, such as "https://example.com";
	// empty for one that a person placed on this computer.
	Origin string
	Auth   *AuthRecipe // how the person is known to the app; nil: not at all
	// Public says that the tool asks nobody to log in, though the app has a login: Auth
	// is nil.
	Public bool
	// Send says of parameters, by name, where and how they go. Of others those in the
	// path's braces go there, and the rest into the query of GET, HEAD and DELETE, and else
	// into the body.
	Send map[string]SendRecipe
}

// A SendRecipe is where and how a parameter's value goes into an HTTP request, in the words
// of OpenAPI. What is empty is the usual.
type SendRecipe struct {
	In   string // "path", "query", "header", "cookie" or "body"
	Name string // what it is called there; empty: what the parameter is
	// Style is how lists and objects are spelled: "simple", "label", "matrix", "form",
	// "spaceDelimited", "pipeDelimited", "deepObject" or "json". Empty: "simple" in the path
	// and headers, else "form". A body of JSON has none.
	Style   string
	Explode *bool // whether each of several values stands for itself; nil: with "form" alone
	Whole   bool  // the value is the whole body, and not a member of it
}

// An MCPRecipe calls a tool of a server of the Model Context Protocol, which is started by a
// command or reached at an address: one of the two is set.
type MCPRecipe struct {
	Command string
	Args    []string // "${NAME}" in one is the value of that name in Env
	// Env are the names of the variables that the server is given besides the usual ones.
	// What they hold is in no descriptor.
	Env     []string
	Dir     string // where it is started; empty: in the person's home
	URL     string
	Headers map[string]string
	Auth    *AuthRecipe // how the person is known at the address; nil: as the server itself says, if it asks
	Tool    string      // as the server calls it; empty: the recipe is of all that the server has
}

// Login is how the person is known to a server at an address, for those who log people in.
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

// An AuthRecipe is how a web app knows the person. It never holds a secret. Which
// fields are set depends on Kind; the addresses are https, or http to this
// computer itself.
type AuthRecipe struct {
	Kind         string // one of the Auth constants
	Instructions string // a stranger's words for people, cleaned: how to get what is asked for
	ObtainURL    string // the page for people where it is got, or empty

	// AuthOAuth2; without these two the server itself says where people log in
	AuthorizationEndpoint, TokenEndpoint string
	DeviceEndpoint, RevocationEndpoint   string // empty where the descriptor has none
	ClientID                             string // the app's own public client, or empty
	Scopes                               []string
	PKCE                                 string // as the descriptor has it, such as "S256"; empty where it is silent

	// AuthAPIKey and AuthBearer: where the secret goes.
	In, Name string // In is "header" or "query"; Name is the header's or the parameter's
	Prefix   string // stands before the secret exactly as it is here, such as "Bearer "
	EnvVar   string // the variable that may hold it; empty: none, as with every descriptor from the web

	// AuthAppCredential: TokenEndpoint, and
	TokenType string        // "tenantAccessToken", "appAccessToken" or "userAccessToken"
	ExpiresIn time.Duration // of the token

	// AuthCookie
	LoginURL string
	Domain   string   // such as "example.com", without a dot before it; BaseURL's host is in it
	Cookies  []string // the names of those that are needed
}

// A Driver makes an Action of a Recipe when a descriptor is loaded, so that a bad
// recipe is found then and not at the first call. Its error is an *Error whose
// message begins with the descriptor's field: AAI_JSON_INVALID makes the whole
// descriptor invalid; PERMISSION_DENIED, for what may not be reached through this
// gateway, takes away this tool alone. Every *Error of the Action sets Delivery: an empty
// one would say that nothing was sent.
type Driver interface {
	Compile(r *Recipe) (Action, error)
}
