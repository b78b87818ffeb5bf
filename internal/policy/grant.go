package policy

import (
	"strings"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
)

// A Decision is what a person decided for good.
type Decision string

// The decisions.
const (
	Allow Decision = "allow"
	Deny  Decision = "deny"
)

// Wildcard stands for any caller, and in a grant of the configuration for any tool.
const Wildcard = "*"

// A Grant is a decision about one tool of one app for one caller.
type Grant struct {
	// Caller is the name that the caller gives itself, such as "mcp:claude-ai", a bare
	// name, or "*" for any.
	Caller string `json:"caller"`
	// Identity is who the caller is for certain, as aai.Caller.Identity. Without one the
	// grant is for everybody if Caller is "*", and else by name alone: see ByName.
	Identity string `json:"identity,omitempty"`
	App      string `json:"app"` // the id of the app that is really touched
	// Tool is as aai.Request.Permission names it; only in the configuration also "*", or a start
	// with arguments: the permission, a space and the whole command.
	Tool string `json:"tool"`
	// Digest is the descriptor's when the decision was made. Empty in grants of
	// the configuration, which hold for every form of the descriptor.
	Digest    string      `json:"digest,omitempty"`
	Decision  Decision    `json:"decision"`
	GrantedAt time.Time   `json:"granted_at"`
	ExpiresAt time.Time   `json:"expires_at,omitzero"` // zero: never
	Channel   aai.Channel `json:"channel,omitempty"`   // how the person was asked
	Terms     Terms       `json:"terms,omitzero"`      // what the person was shown, in short
	// Unsealed says that it lies where whoever writes files may have put it, as all of it
	// says: nothing can be sealed.
	Unsealed bool `json:"-"`
}

// needsOwnGrant reports whether a permission is given by its own name alone: every tool is no word
// about running commands, nor about what the caller runs in.
func needsOwnGrant(permission string) bool {
	return permission == aai.PermissionRun || permission == aai.PermissionHost
}

// covers reports whether the grant speaks of the request's caller, app and tool.
func (g Grant) covers(r *aai.Request) bool {
	if g.App != r.Call.Target.ID || !g.coversCaller(r.Call.Caller) {
		return false
	}
	if hasExtraArgs(r) && g.Decision != Deny {
		return r.Call.Target.Launch != nil && g.Tool == r.Permission()+" "+r.Call.Target.Launch.CommandLine
	}
	return g.Tool == r.Permission() || g.Tool == Wildcard && !needsOwnGrant(r.Permission())
}

// matchesDigest reports whether the grant is for what the request's permission is bound to. A grant to
// start a program from before entries were bound names its executable, which is all there is to
// a command without arguments.
func (g Grant) matchesDigest(r *aai.Request) bool {
	launch := r.Call.Target.Launch
	return g.Digest == r.Digest() ||
		launch != nil && launch.IsBareProgram && r.Permission() == aai.PermissionStart && g.Digest == r.Call.Target.Digest
}

// hasExtraArgs reports whether the call starts a program with more than its own command and files
// or addresses to open; of what runs commands, every argument is more.
func hasExtraArgs(r *aai.Request) bool {
	if !r.StartsProgram() {
		return false
	}
	launch := r.Call.Target.Launch
	return launch == nil || launch.HasArgs && (r.RunsCommand || !launch.OpensArgs)
}

// IsNameOnly reports whether all that the grant says of the caller is the name that it gave
// itself, as grants were before identities were known. It admits nothing until a person
// has said whose it is; a refusal holds. At the terminal the name is the gateway's own.
func (g Grant) IsNameOnly() bool {
	return g.Identity == "" && g.Caller != Wildcard && !strings.HasPrefix(g.Caller, aai.DoorCLI+":")
}

// coversCaller goes by the identity; a name only subdivides what was allowed. A refusal
// is for whatever the caller calls itself. A grant that names nobody is for nobody.
func (g Grant) coversCaller(c aai.Caller) bool {
	switch {
	case g.Caller == "", g.IsNameOnly() && g.Decision != Deny, g.Identity != "" && g.Identity != c.Identity:
		return false
	case g.Identity != "" && g.Decision == Deny:
		return true
	}
	return g.matchesName(c)
}

// matchesName compares whole names, as Caller.String cleans them, so that no caller can be
// taken for another by a name that only looks alike. A bare name holds at every door
// but the terminal's.
func (g Grant) matchesName(c aai.Caller) bool {
	full := c.String()
	if g.Caller == Wildcard || g.Caller == full {
		return true
	}
	return !strings.Contains(g.Caller, ":") && c.Door != aai.DoorCLI && c.Door+":"+g.Caller == full
}

// sameSubject reports whether two grants are about the same tool for the same caller:
// the later one replaces the other.
func (g Grant) sameSubject(other Grant) bool {
	return g.Caller == other.Caller && g.Identity == other.Identity && g.App == other.App && g.Tool == other.Tool
}

func (g Grant) expired(now time.Time) bool {
	return !g.ExpiresAt.IsZero() && !now.Before(g.ExpiresAt)
}

// A sessionKey is what a grant for one session is bound to.
type sessionKey struct{ caller, conversation, app, tool, digest string }

func keyOf(r *aai.Request) sessionKey {
	c := r.Call.Caller
	return sessionKey{c.String(), c.Conversation(), r.Call.Target.ID, r.Permission(), r.Digest()}
}

// maxSessionGrants bounds what sessions can make the gateway remember.
const maxSessionGrants = 10_000

// sessionGrants are the grants that end with their session.
type sessionGrants struct {
	revocations *Revocations

	mu      sync.Mutex
	granted map[sessionKey]string // the latest revocation when it was granted
}

func newSessionGrants(revocations *Revocations) *sessionGrants {
	return &sessionGrants{revocations: revocations, granted: make(map[sessionKey]string)}
}

// has reports whether the session was granted it, and nothing was revoked since,
// or might have been.
func (s *sessionGrants) has(r *aai.Request) bool {
	if r.Call.Caller.Session == "" {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := keyOf(r)
	granted, ok := s.granted[key]
	if !ok {
		return false
	}
	latest, err := s.revocations.latest()
	if err == nil && latest == granted {
		return true
	}
	delete(s.granted, key)
	return false
}

// latestRevocation is the latest revocation; where nobody can tell, one that never is.
func (s *sessionGrants) latestRevocation() string {
	latest, err := s.revocations.latest()
	if err != nil {
		return "unknown"
	}
	return latest
}

// noneSince reports whether nothing was revoked since that one, nor might have been.
func (s *sessionGrants) noneSince(since string) bool {
	latest, err := s.revocations.latest()
	return err == nil && latest == since
}

func (s *sessionGrants) add(r *aai.Request) {
	latest, err := s.revocations.latest()
	if err != nil {
		return // it holds for this call alone
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.granted) < maxSessionGrants {
		s.granted[keyOf(r)] = latest
	}
}
