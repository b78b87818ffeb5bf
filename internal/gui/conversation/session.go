// Package memory is what is remembered from one call to the next: of each conversation its
// references, aliases and last pictures, of each program what changes by itself and what may
// still come of the last act, and of the terminal what its commands have been told.
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

// maxSessions is how many conversations are remembered; the one not heard of for
// the longest is forgotten first.
const maxSessions = 200

// Sessions are the conversations of all callers. Safe for concurrent use.
type Sessions struct {
	mu    sync.Mutex
	byKey map[string]*Session
	order []string // the last one is the latest
}

// NewSessions returns what nobody has told anything yet.
func NewSessions() *Sessions { return &Sessions{byKey: make(map[string]*Session)} }

// For returns the conversation that the call belongs to.
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

// Forget drops what was remembered of processes that have ended. An alias stays: who
// uses it is told that its program has ended.
func (s *Sessions) Forget(ended []Process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.byKey {
		one.forget(ended)
	}
}

// A Conversation is what is remembered of one. Safe for concurrent use.
type Session struct {
	mu          sync.Mutex
	refs        map[Process]*refs.Table
	staleRefs   *refs.Table // what is stale: the references into programs that have ended; nil for none
	aliases     map[string]Process
	connected   []int // processes
	actions     int
	screenshots map[int]Screenshot // that were given last, by process
	pending     map[Process]*watch.PendingEffect
	baselines   map[Process]*Baseline
	listed      bool     // the caller was told of all programs, and by what their windows tell them apart
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

// RefsOf returns the conversation's references into the program. None is one that a program had
// which has ended: it may be the same one, begun anew.
func (s *Session) RefsOf(app desktop.App) *refs.Table {
	s.mu.Lock()
	defer s.mu.Unlock()
	is := ProcessOf(app)
	if s.refs[is] == nil {
		s.refs[is] = refs.NewAfter(s.staleRefs)
	}
	return s.refs[is]
}

// KnownRefs returns the references if the conversation has been told of the program, or
// nil.
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

// Connect remembers the program and the name it is to have here.
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

// Alias returns the process with the alias.
func (s *Session) Alias(name string) (is Process, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	is, known = s.aliases[name]
	return is, known
}

// MarkListed notes that the caller was told of all programs.
func (s *Session) MarkListed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listed = true
}

// HasListed reports whether the caller was told of all programs.
func (s *Session) HasListed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listed
}

// CountAction counts what was done.
func (s *Session) CountAction() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.actions++
}

// Report returns the connected processes and how much was done.
func (s *Session) Report() (connected []int, actions int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.connected), s.actions
}

// AddSecret notes a text that was meant for a password field. A single character is none: it
// would be found everywhere.
func (s *Session) AddSecret(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if utf8.RuneCountInString(text) > 1 && !slices.Contains(s.secrets, text) {
		s.secrets = append(s.secrets, text)
	}
}

// SecretRedactor returns a Veil that takes the noted texts out of replies, or nil if there are none.
func (s *Session) SecretRedactor() *sanitize.Redactor {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.secrets) == 0 {
		return nil
	}
	return sanitize.NewRedactor(slices.Clone(s.secrets))
}
