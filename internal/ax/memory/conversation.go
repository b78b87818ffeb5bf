// Package memory is what is remembered from one call to the next: of each conversation its
// references, aliases and last pictures, of each program what changes by itself and what may
// still come of the last act, and of the terminal what its commands have been told.
package memory

import (
	"slices"
	"sync"
	"unicode/utf8"

	"aai"
	"aai/internal/ax/watch"
	"aai/internal/desktop"
	"aai/internal/desktop/refs"
	"aai/internal/hygiene"
)

// maxSessions is how many conversations are remembered; the one not heard of for
// the longest is forgotten first.
const maxSessions = 200

// Conversations are the conversations of all callers. Safe for concurrent use.
type Conversations struct {
	mu    sync.Mutex
	known map[string]*Conversation
	order []string // the last one is the latest
}

// New returns what nobody has told anything yet.
func New() *Conversations { return &Conversations{known: make(map[string]*Conversation)} }

// Of returns the conversation that the call belongs to.
func (s *Conversations) Of(call *aai.Call) *Conversation {
	key := call.Caller.Conversation()
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.order, key); i >= 0 {
		s.order = slices.Delete(s.order, i, i+1)
	} else {
		s.known[key] = &Conversation{refs: make(map[Process]*refs.Table), pictures: make(map[int]Picture), aliases: make(map[string]Process), late: make(map[Process]*watch.Late), expected: make(map[Process]*Expected)}
	}
	s.order = append(s.order, key)
	if len(s.order) > maxSessions {
		delete(s.known, s.order[0])
		s.order = s.order[1:]
	}
	return s.known[key]
}

// Forget drops what was remembered of processes that have ended. An alias stays: who
// uses it is told that its program has ended.
func (s *Conversations) Forget(ended []Process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.known {
		one.forget(ended)
	}
}

// A Conversation is what is remembered of one. Safe for concurrent use.
type Conversation struct {
	mu        sync.Mutex
	refs      map[Process]*refs.Table
	ended     *refs.Table // what is stale: the references into programs that have ended; nil for none
	aliases   map[string]Process
	connected []int // processes
	actions   int
	pictures  map[int]Picture // that were given last, by process
	late      map[Process]*watch.Late
	expected  map[Process]*Expected
	listed    bool     // the caller was told of all programs, and by what their windows tell them apart
	secrets   []string // texts that were meant for password fields
}

func (s *Conversation) forget(ended []Process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, is := range ended {
		s.ended = refs.After(s.ended, s.refs[is])
		delete(s.refs, is)
		delete(s.late, is)
		delete(s.expected, is)
		delete(s.pictures, is.PID)
		s.connected = slices.DeleteFunc(s.connected, func(pid int) bool { return pid == is.PID })
	}
}

// RefsOf returns the conversation's references into the program. None is one that a program had
// which has ended: it may be the same one, begun anew.
func (s *Conversation) RefsOf(app desktop.App) *refs.Table {
	s.mu.Lock()
	defer s.mu.Unlock()
	is := Of(app)
	if s.refs[is] == nil {
		s.refs[is] = refs.After(s.ended)
	}
	return s.refs[is]
}

// Knows returns the references if the conversation has been told of the program, or
// nil.
func (s *Conversation) Knows(pid int) *refs.Table {
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
func (s *Conversation) Connect(app desktop.App, alias string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if alias != "" {
		s.aliases[alias] = Of(app)
	}
	if !slices.Contains(s.connected, app.PID) {
		s.connected = append(s.connected, app.PID)
	}
}

// Alias returns the process with the alias.
func (s *Conversation) Alias(name string) (is Process, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	is, known = s.aliases[name]
	return is, known
}

// List notes that the caller was told of all programs.
func (s *Conversation) List() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listed = true
}

// KnowsAll reports whether the caller was told of all programs.
func (s *Conversation) KnowsAll() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listed
}

// Acted counts what was done.
func (s *Conversation) Acted() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.actions++
}

// Report returns the connected processes and how much was done.
func (s *Conversation) Report() (connected []int, actions int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.connected), s.actions
}

// AddSecret notes a text that was meant for a password field. A single character is none: it
// would be found everywhere.
func (s *Conversation) AddSecret(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if utf8.RuneCountInString(text) > 1 && !slices.Contains(s.secrets, text) {
		s.secrets = append(s.secrets, text)
	}
}

// Secrets returns a Veil that takes the noted texts out of replies, or nil if there are none.
func (s *Conversation) Secrets() *hygiene.Veil {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.secrets) == 0 {
		return nil
	}
	return hygiene.NewVeil(slices.Clone(s.secrets))
}
