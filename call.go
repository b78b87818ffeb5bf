package aai

import (
	"crypto/rand"
	"encoding/json"
	"strings"
)

// A Call is a request to run one tool of one app. A door creates it and passes it to
// Gateway.Do, which does not change it.
type Call struct {
	ID     string // unique; Do assigns one if it is empty
	Parent string // the id of the enclosing call, if any; Do sets it for calls of an Action
	Caller Caller
	App    string // an id, a wire name, an alias, a display name or an address
	Tool   string
	Args   map[string]any
	// Raw holds the arguments as sent if the door has not decoded them: a JSON object, or a
	// string that contains one. Do decodes it into Args once it knows the tool's size limit.
	Raw json.RawMessage
	// Answers holds answers to questions of an earlier Do, by Question.ID.
	Answers map[string]Answer
	// Target is the app or program that the call operates. Do sets it for the Action and ignores
	// a value from the door.
	Target *App
	// CheckUnchanged receives the current state before the Action changes it, if the Action can
	// read it. An error cancels the change. Nil means no check.
	CheckUnchanged func(now any) error
	// OnlyTarget is the id of the only permitted target; "" means that the arguments decide.
	OnlyTarget string
	// RepeatOver describes, for people, the list over which the call is repeated; "" means a
	// single call. Gates show it.
	RepeatOver string
	// IsRefresh reports that a page repeats a read to keep its display current. For DoorWeb and
	// the same read of the gateway, the desktop or events, the journal gets one line in ten minutes.
	IsRefresh bool
	// RequestError is an error in the request that kept it from becoming a call, such as
	// arguments that are no object. Do records the call and rejects it with this error.
	RequestError *Error
}

// The doors, as values of Caller.Door.
const (
	DoorMCP = "mcp" // agents
	DoorCLI = "cli" // a person at a terminal
	DoorWeb = "web" // a person at a browser
)

// A Caller is the source of a call. Door, Identity and Principal are trustworthy, since our own
// code sets them. Name is the caller's own claim:
// it can narrow a permission but never grants one.
type Caller struct {
	Door      string // DoorMCP, DoorCLI or DoorWeb
	Name      string // such as an MCP client's name
	Session   string // the scope of "this session" for grants and references
	Principal string // the authenticated principal, if the door authenticates
	// Identity is the verified caller, the same in every run: the program at the other end, such
	// as "/usr/bin/node /opt/agent/cli.js", or "http:work" for an authenticated principal. It is
	// empty if unknown; such a caller gets no permission beyond its session.
	Identity string
}

// The identities that a door assigns without looking up a program.
const (
	IdentityTerminal   = "terminal" // a person at a terminal
	IdentityPage       = "page"     // a person at a browser
	IdentityPrefixHTTP = "http:"    // before the principal, as in "http:work"
)

// IdentityPrefixes returns the prefixes of all identities except the terminal's and the page's.
func IdentityPrefixes() []string { return []string{"/", `"/`, "flatpak:", IdentityPrefixHTTP} }

// IsIdentity reports whether s has the form of a known identity other than the terminal's and the
// page's.
func IsIdentity(s string) bool {
	for _, prefix := range IdentityPrefixes() {
		if strings.HasPrefix(s, prefix) {
			return CleanLabel(s, len(s)+len(prefix)) == s
		}
	}
	return false
}

// Conversation returns the key of the caller's private state: references, aliases, outputs,
// tasks. Name is not part of it.
func (c Caller) Conversation() string {
	return strings.Join([]string{c.Door, c.Identity, c.Principal, c.Session}, "\x00")
}

// A Placeholder stands in the arguments of a call for a value that is not known yet, such as a
// result of another call. A call with placeholders can be admitted: everything else in it is
// validated and shown. It runs when they are resolved, by Admission.Repeat.
type Placeholder struct {
	Label string // text for people, such as "‹title of step 1›"
	Key   any    // identifies the value for the resolver
}

// MarshalJSON returns the label as JSON.
func (h Placeholder) MarshalJSON() ([]byte, error) { return json.Marshal(h.Label) }

// A Result holds the answer of an Action that succeeded.
type Result struct {
	Text string // for people and models
	Data any    // for programs: a JSON value, or nil
	// DataComplete reports that Data contains everything in Text, so showing both would repeat
	// it.
	DataComplete bool
	// Warning is a reason to doubt the result.
	Warning string
	// UntrustedSource names the third party that wrote the result, such as
	// "https://api.example.com": the text is data, not instructions to a model. It is empty for
	// content from this computer.
	UntrustedSource string
	Images          []Image
	// Undo reverts the call; nil means that nothing changed or that no way is known. It is for
	// the gateway's own packages; doors do not show it.
	Undo *Undo
	// NoOp reports that nothing was done because the state was already as requested. There is
	// nothing to undo, the call is no mutation, and its record states this.
	NoOp bool
	// Record is a fact for the call's line in the journal, such as the tokens that a model used; it holds no content of the
	// answer.
	Record string
}

// An Image is a picture in a Result, or in a Message of a model.
type Image struct {
	MIME string // such as "image/png"
	Data []byte
}

// NewCallID returns a fresh id of 16 characters from a cryptographic source. A door that may
// repeat a call sets it as Call.ID, so that the repetition can name the first call as its Parent.
func NewCallID() string {
	return "c" + strings.ToLower(rand.Text())[:15]
}

// String returns the caller as grants and messages show it: its door and, if set, its name, such
// as "mcp:claude-ai" or "cli:terminal". The name is cleaned and cut to 60 bytes.
func (c Caller) String() string {
	return c.Door + ":" + CleanLabel(c.Name, 60)
}
