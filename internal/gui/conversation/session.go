// Package conversation holds the state between calls. A Session keeps the refs, aliases and last
// screenshots of one conversation. The AppCache keeps each program's ambient changes and pending
// effect. The RefStore keeps the refs of terminal commands.
package conversation

import (
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/refs"
	"github.com/gybob/aai-gateway/internal/gui/watch"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// maxSessions limits the number of conversations; the least recently used one is dropped first.
const maxSessions = 200

// Sessions holds the conversations of all callers. It is safe for concurrent use.
type Sessions struct {
	mu    sync.Mutex
	byKey map[string]*Session
	order []string // the last one is the latest
}

// NewSessions returns empty Sessions.
func NewSessions() *Sessions { return &Sessions{byKey: make(map[string]*Session)} }

// For returns the session of the conversation to which the call belongs, and creates it if needed.
func (s *Sessions) For(call *aai.Call) *Session {
	key := call.Caller.Conversation()
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.order, key); i >= 0 {
		s.order = slices.Delete(s.order, i, i+1)
	} else {
		s.byKey[key] = &Session{refs: make(map[Process]*refs.Table), screenshots: make(map[int]Screenshot), aliases: make(map[string]Process), pending: make(map[Process]*watch.PendingEffect), baselines: make(map[Process]*Baseline)}
	}
	s.order = append(s.order, key)
	if len(s.order) > maxSessions {
		delete(s.byKey, s.order[0])
		s.order = s.order[1:]
	}
	return s.byKey[key]
}

// Forget drops the state of processes that have ended. Aliases stay, so that a later use reports
// that the program has ended.
func (s *Sessions) Forget(ended []Process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.byKey {
		one.forget(ended)
	}
}

// Session is the state of one conversation. It is safe for concurrent use.
type Session struct {
	mu          sync.Mutex
	refs        map[Process]*refs.Table
	staleRefs   *refs.Table // stale refs, for programs that have ended; nil for none
	aliases     map[string]Process
	connected   []int // PIDs
	actions     int
	screenshots map[int]Screenshot // the last ones, by PID
	pending     map[Process]*watch.PendingEffect
	baselines   map[Process]*Baseline
	listed      bool     // the caller has the list of all programs with their window titles
	secrets     []string // texts that were meant for password fields
}

func (s *Session) forget(ended []Process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, is := range ended {
		s.staleRefs = refs.NewAfter(s.staleRefs, s.refs[is])
		delete(s.refs, is)
		delete(s.pending, is)
		delete(s.baselines, is)
		delete(s.screenshots, is.PID)
		s.connected = slices.DeleteFunc(s.connected, func(pid int) bool { return pid == is.PID })
	}
}

// RefsOf returns the conversation's refs for the program. It never reuses a ref of a program that
// has ended: that may be the same program before a restart.
func (s *Session) RefsOf(app desktop.App) *refs.Table {
	s.mu.Lock()
	defer s.mu.Unlock()
	is := ProcessOf(app)
	if s.refs[is] == nil {
		s.refs[is] = refs.NewAfter(s.staleRefs)
	}
	return s.refs[is]
}

// KnownRefs returns the refs if the conversation has used the program, or nil.
func (s *Session) KnownRefs(pid int) *refs.Table {
	s.mu.Lock()
	defer s.mu.Unlock()
	for is, known := range s.refs {
		if is.PID == pid {
			return known
		}
	}
	return nil
}

// Connect records that the conversation has connected to the program. It also stores the alias, unless that is "".
func (s *Session) Connect(app desktop.App, alias string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if alias != "" {
		s.aliases[alias] = ProcessOf(app)
	}
	if !slices.Contains(s.connected, app.PID) {
		s.connected = append(s.connected, app.PID)
	}
}

// Alias returns the process that Connect stored under the alias; known is false if there is none.
func (s *Session) Alias(name string) (is Process, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	is, known = s.aliases[name]
	return is, known
}

// MarkListed notes that the caller has received the list of all programs.
func (s *Session) MarkListed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listed = true
}

// HasListed reports whether the caller has received the list of all programs.
func (s *Session) HasListed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listed
}

// CountAction increments the number of actions.
func (s *Session) CountAction() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.actions++
}

// Report returns the PIDs of the connected programs, and the number of actions of the conversation.
func (s *Session) Report() (connected []int, actions int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.connected), s.actions
}

// AddSecret adds a text that was meant for a password field. It ignores a single character, which
// would match everywhere.
func (s *Session) AddSecret(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if utf8.RuneCountInString(text) > 1 && !slices.Contains(s.secrets, text) {
		s.secrets = append(s.secrets, text)
	}
}

// SecretRedactor returns a Redactor for the conversation's secrets, or nil if there are none.
func (s *Session) SecretRedactor() *sanitize.Redactor {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.secrets) == 0 {
		return nil
	}
	return sanitize.NewRedactor(slices.Clone(s.secrets))
}
