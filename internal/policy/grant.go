package policy

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// A Decision says whether a person allowed or denied a tool for good.
type Decision string

// The decisions: the calls that a Grant covers need no question, or are refused.
const (
	Allow Decision = "allow"
	Deny  Decision = "deny"
)

// Wildcard stands for any caller, and in a grant of the configuration for any tool.
const Wildcard = "*"

// A Grant records that calls of one tool of one app by one caller are allowed, or denied, without a
// question; see Decision.
type Grant struct {
	// Caller is the name that the caller reports, such as "mcp:claude-ai", a bare name, or
	// "*" for any.
	Caller string `json:"caller"`
	// Identity is the caller's verified identity, as in aai.Caller.Identity. A grant without one is for
	// all callers if Caller is "*", and otherwise by name alone: see IsNameOnly.
	Identity string `json:"identity,omitempty"`
	App      string `json:"app"` // the ID of the target app
	// Tool is as in aai.Request.Permission. Only the configuration may also use "*", or a
	// start with arguments: the permission, a space and the whole command; or a tool with the files
	// that it sends, separated by spaces.
	Tool string `json:"tool"`
	// Digest is the descriptor's digest at the time of the decision. It is empty in grants
	// of the configuration, which are valid for every form of the descriptor.
	Digest    string      `json:"digest,omitempty"`
	Decision  Decision    `json:"decision"`
	GrantedAt time.Time   `json:"granted_at"`
	ExpiresAt time.Time   `json:"expires_at,omitzero"` // zero: never
	Channel   aai.Channel `json:"channel,omitempty"`   // the channel of the question
	Terms     Terms       `json:"terms,omitzero"`      // a summary of the terms that the person saw
	// Unsealed marks a grant from a file without a seal, because nothing can be sealed
	// here. Any program that can write the file may have added it.
	Unsealed bool `json:"-"`
}

// needsOwnGrant reports whether a permission needs a grant by its own name: a wildcard
// does not cover running commands, access to the caller's host, secrets, or pictures for a model.
func needsOwnGrant(permission string) bool {
	return permission == aai.PermissionRun || permission == aai.PermissionHost || strings.HasPrefix(permission, aai.PermissionSecret+" ") ||
		strings.HasPrefix(permission, aai.PermissionPicture+" ")
}

// covers reports whether the grant applies to the request's caller, app and tool.
func (g Grant) covers(r *aai.Request) bool {
	if g.App != r.Call.Target.ID || !g.coversCaller(r.Call.Caller) {
		return false
	}
	if files := r.Assessment().ReadsFiles; len(files) > 0 && g.Decision != Deny {
		return g.Tool == r.Permission()+" "+strings.Join(files, " ")
	}
	if hasExtraArgs(r) && g.Decision != Deny {
		return r.Call.Target.Process.Launch != nil && g.Tool == r.Permission()+" "+r.Call.Target.Process.Launch.CommandLine
	}
	return g.Tool == r.Permission() || g.Tool == Wildcard && !needsOwnGrant(r.Permission())
}

// matchesDigest reports whether the grant's digest matches the request. An older grant to
// start a program holds the digest of the executable, which is enough for a command
// without arguments.
func (g Grant) matchesDigest(r *aai.Request) bool {
	launch := r.Call.Target.Process.Launch
	return g.Digest == r.Digest() ||
		launch != nil && launch.IsBareProgram && r.Permission() == aai.PermissionStart && g.Digest == r.Call.Target.Digest
}

// hasExtraArgs reports whether the call starts a program with more than its own command and files or
// addresses to open, or sends files. For a program that runs commands every argument is extra.
func hasExtraArgs(r *aai.Request) bool {
	if !r.StartsProgram() {
		return len(r.Assessment().ReadsFiles) > 0
	}
	launch := r.Call.Target.Process.Launch
	return launch == nil || launch.HasArgs && (r.RunsCommand || !launch.OpensArgs)
}

// IsNameOnly reports whether the grant identifies the caller only by its self-reported name, as grants
// from before verified identities do. Such a grant admits nothing until a person confirms its owner; a
// refusal stays valid. At the terminal the gateway itself sets the name.
func (g Grant) IsNameOnly() bool {
	return g.Identity == "" && g.Caller != Wildcard && !strings.HasPrefix(g.Caller, aai.DoorCLI+":")
}

// coversCaller reports whether the grant is for the caller. The identity decides; a name
// only narrows a permission. A refusal covers all names of an identity. A grant without a
// caller covers none.
func (g Grant) coversCaller(c aai.Caller) bool {
	switch {
	case g.Caller == "", g.IsNameOnly() && g.Decision != Deny, g.Identity != "" && g.Identity != c.Identity:
		return false
	case g.Identity != "" && g.Decision == Deny:
		return true
	}
	return g.matchesName(c)
}

// matchesName reports whether the grant names the caller. It compares whole names, as
// cleaned by Caller.String, so that no caller can imitate another by a similar name. A
// bare name matches at every door except the terminal.
func (g Grant) matchesName(c aai.Caller) bool {
	full := c.String()
	if g.Caller == Wildcard || g.Caller == full {
		return true
	}
	return !strings.Contains(g.Caller, ":") && c.Door != aai.DoorCLI && c.Door+":"+g.Caller == full
}

// sameSubject reports whether two grants are about the same tool for the same caller: the
// later one replaces the other.
func (g Grant) sameSubject(other Grant) bool {
	return g.Caller == other.Caller && g.Identity == other.Identity && g.App == other.App && g.Tool == other.Tool
}

func (g Grant) expired(now time.Time) bool {
	return !g.ExpiresAt.IsZero() && !now.Before(g.ExpiresAt)
}

// A sessionKey identifies a grant for one session.
type sessionKey struct{ caller, conversation, app, tool, digest string }

func keyOf(r *aai.Request) sessionKey {
	c := r.Call.Caller
	return sessionKey{c.String(), c.Conversation(), r.Call.Target.ID, r.Permission(), r.Digest()}
}

// maxSessionGrants bounds the number of session grants in memory.
const maxSessionGrants = 10_000

// sessionGrants holds the grants that end with their session.
type sessionGrants struct {
	revocations *Revocations

	mu      sync.Mutex
	granted map[sessionKey]string // the latest revocation at the time of the grant
}

func newSessionGrants(revocations *Revocations) *sessionGrants {
	return &sessionGrants{revocations: revocations, granted: make(map[sessionKey]string)}
}

// has reports whether the session has the grant and no revocation came, or may have come,
// since.
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

// latestRevocation returns the latest revocation. If it is unreadable, the result never matches.
func (s *sessionGrants) latestRevocation() string {
	latest, err := s.revocations.latest()
	if err != nil {
		return "unknown"
	}
	return latest
}

// noneSince reports whether since is certainly still the latest revocation.
func (s *sessionGrants) noneSince(since string) bool {
	latest, err := s.revocations.latest()
	return err == nil && latest == since
}

func (s *sessionGrants) add(r *aai.Request) {
	latest, err := s.revocations.latest()
	if err != nil {
		return // the grant is valid for this call alone
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.granted) < maxSessionGrants {
		s.granted[keyOf(r)] = latest
	}
}

// Revocations tell running gateways that a person revoked a permission: session grants
// from before are then invalid in all of them. The file contains a random word that
// changes with each revocation. Revocations are safe for concurrent use, also by several
// gateways.
type Revocations struct{ path string }

// NewRevocations returns the revocations in the file at path, which need not exist.
func NewRevocations(path string) *Revocations { return &Revocations{path} }

// Revoke ends all session grants so far.
func (r *Revocations) Revoke() error {
	if err := os.MkdirAll(filepath.Dir(r.path), 0o700); err != nil {
		return fmt.Errorf("make the folder of the revocations: %w", err)
	}
	if err := atomicfile.ReplaceDurable(r.path, []byte(rand.Text())); err != nil {
		return fmt.Errorf("record the revocation: %w", err)
	}
	return nil
}

// latest returns the word of the latest revocation, or "" before the first.
func (r *Revocations) latest() (string, error) {
	if r == nil {
		return "", nil
	}
	b, err := os.ReadFile(r.path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return string(b), err
}

// maxTerm is the limit for each term in a grant, in bytes.
const maxTerm = 300

// Terms are a cleaned summary of the terms that a person accepted. A grant stores them so
// that a later question can describe changes. The digest, not the summary, binds the
// grant.
type Terms struct {
	App         string `json:"app,omitempty"`
	Description string `json:"description,omitempty"`
	Effect      string `json:"effect,omitempty"`
	Parameters  string `json:"parameters,omitempty"` // their JSON Schema
	Runs        string `json:"runs,omitempty"`
	Program     string `json:"program,omitempty"` // path of the operated program; the only field of apps that operate others
}

// termsOf returns the terms of the permission.
func termsOf(r *aai.Request, permission string) Terms {
	if r.App.OperatesOthers() {
		return Terms{Program: aai.CleanLabel(r.Call.Target.Source, maxTerm)}
	}
	t := r.App.Tool(permission)
	if t == nil {
		return Terms{}
	}
	return Terms{
		App:         aai.CleanLabel(r.App.Name, maxTerm),
		Description: aai.CleanLabel(t.Description, maxTerm),
		Effect:      t.Effect.String(),
		Parameters:  aai.CleanLabel(compact(t.Params.Source), maxTerm),
		Runs:        aai.CleanLabel(t.Implementation.Summary, maxTerm),
	}
}

func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return ""
	}
	return b.String()
}

// changedTerms describes, one change per line, how the terms differ from those of the
// grant, in the descriptor's words.
func (w words) changedTerms(r *aai.Request, old Grant) lines {
	const size = 120 // of each term, in bytes
	was, now := old.Terms, termsOf(r, r.Permission())
	var text lines
	if r.App.OperatesOthers() {
		text.addOwn(w.otherProgram, old.GrantedAt.Local().Format(time.DateOnly))
	} else {
		text.addOwn(w.changed, old.GrantedAt.Local().Format(time.DateOnly))
	}
	for _, term := range []struct{ name, was, now string }{
		{w.app, was.App, now.App}, {w.says, was.Description, now.Description}, {w.effectName, was.Effect, now.Effect},
		{w.parameters, was.Parameters, now.Parameters}, {w.runs, was.Runs, now.Runs}, {w.program, was.Program, now.Program},
	} {
		if term.was != term.now && was != (Terms{}) {
			text.addQuoted(w.was, term.name, quoteTruncated(term.was, size), quoteTruncated(term.now, size))
		}
	}
	if len(text) == 1 {
		text.addQuoted("%s", w.more)
	}
	return text
}
