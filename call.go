package aai

import (
	"crypto/rand"
	"encoding/json"
	"strings"
)

// A Call asks for one tool of one app. A door makes it and gives it to
// [Gateway.Do], which does not change it.
type Call struct {
	ID     string // unique; Do gives a call without one an ID
	Parent string // the call this one belongs to, if any; Do says so of one that an Action makes
	Caller Caller
	App    string // an id, an alias, a wire name or an address
	Tool   string
	Args   map[string]any
	// Raw is the arguments as they were sent, where a door has not read them: a JSON
	// object, or a string that holds one. Do reads it in the place of Args, when it
	// knows how much the tool takes.
	Raw json.RawMessage
	// Answers to the questions an earlier Do returned, by Question.ID.
	Answers map[string]Answer
	// Target is the app that is really touched. Do finds it, for the Action; what
	// a door says there is not looked at.
	Target *App
	// CheckUnchanged is told what is there before the Action changes it, by one that can look, and
	// says why that is not to be changed: then nothing is. Nil: whatever is there may be.
	CheckUnchanged func(now any) error
	// OnlyTarget is the id of the one target that the call is for; "": whatever the arguments name.
	OnlyTarget string
	// RepeatOver says for people, of a call that is to be made once for each value of a list, which
	// list that is; "" of one that is made once. Gates have it shown.
	RepeatOver string
	// IsRefresh says that a page looks again at what it shows, so that it stays true. Of the same
	// look at the gateway itself by the door DoorWeb there is one line on record in ten minutes.
	IsRefresh bool
	// RequestError is what was wrong with the request before it could become a call,
	// such as arguments that are no object. Do puts the call on record and
	// refuses it with this error.
	RequestError *Error
}

// The doors, as Caller.Door names them.
const (
	DoorMCP = "mcp" // agents
	DoorCLI = "cli" // a person at a terminal
	DoorWeb = "web" // a person at a browser
)

// A Caller is who asks. Door, Identity and Principal are certain: they are set by our
// own code. Name is what the caller says of itself: it subdivides, and opens nothing.
type Caller struct {
	Door      string // DoorMCP, DoorCLI or DoorWeb: the room the call came in by
	Name      string // such as an MCP client's name
	Session   string // what "this session" means for grants and references
	Principal string // who was authenticated, where a door authenticates
	// Identity is who it is for certain, the same from one run to the next: the
	// program at the other end, such as "/usr/bin/node /opt/agent/cli.js", or
	// "http:work" for whoever was authenticated so. Empty where nobody can tell; such a
	// caller is allowed nothing that outlasts its session.
	Identity string
}

// The identities that a door gives to those whom it does not look up.
const (
	IdentityTerminal = "terminal" // the person's, at a terminal
	IdentityPage     = "page"     // the person's, at a browser
	IdentityHTTP     = "http:"    // before a principal
)

// IdentityPrefixes are how identities begin that are neither the terminal's nor the page's.
func IdentityPrefixes() []string { return []string{"/", `"/`, "flatpak:", IdentityHTTP} }

// IsIdentity reports whether a text has the form of an identity that is neither unknown
// nor the terminal's or the page's.
func IsIdentity(s string) bool {
	for _, prefix := range IdentityPrefixes() {
		if strings.HasPrefix(s, prefix) {
			return CleanLabel(s, len(s)+len(prefix)) == s
		}
	}
	return false
}

// Conversation names what is kept for the caller and shown to no other: references,
// aliases, outputs, tasks. A name is no part of it.
func (c Caller) Conversation() string {
	return strings.Join([]string{c.Door, c.Identity, c.Principal, c.Session}, "\x00")
}

// A Result is what an Action gives back.
type Result struct {
	Text string // for people and models
	Data any    // for programs: a JSON value; nil where there is none
	// DataComplete says that Data has all that Text says: who shows both would show it twice.
	DataComplete bool
	// Warning says what a caller should doubt about the result.
	Warning string
	// UntrustedSource names whose words the result holds where those are a stranger's, such
	// "https://api.example.com": they are data, and no orders to a model. Empty for
	// what comes from this computer.
	UntrustedSource string
	Images          []Image
	// Undo is how what was done is taken back; nil: it changed nothing, or nobody knows how.
	// It is for the gateway's own rooms: doors do not show it.
	Undo *Undo
	// NoOp says that nothing was done, since all was so already: there is nothing to take
	// back, it is no [Mutation], and its record says so.
	NoOp bool
}

// An Image is a picture in a result.
type Image struct {
	MIME string // such as "image/png"
	Data []byte
}

// NewCallID returns a fresh id of 16 characters from a cryptographic source. A
// door that makes a call again needs it to name the first one as the parent.
func NewCallID() string {
	return "c" + strings.ToLower(rand.Text())[:15]
}

// String names the caller as grants and messages do: its door and, where it gave
// one, its name, such as "mcp:claude-ai" or "cli:terminal". The name is cleaned
// and cut to 60 bytes.
func (c Caller) String() string {
	return c.Door + ":" + CleanLabel(c.Name, 60)
}
