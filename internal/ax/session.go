package ax

import (
	"slices"
	"sync"

	"aai"
	"aai/internal/desktop"
	"aai/internal/desktop/refs"
)

// maxSessions is how many conversations are remembered; the one not heard of for
// the longest is forgotten first.
const maxSessions = 200

// sessions are the conversations of all callers. Safe for concurrent use.
type sessions struct {
	mu    sync.Mutex
	known map[string]*session
	order []string // the last one is the latest
}

func newSessions() *sessions { return &sessions{known: make(map[string]*session)} }

// of returns the conversation that the call belongs to.
func (s *sessions) of(call *aai.Call) *session {
	key := call.Caller.Conversation()
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.order, key); i >= 0 {
		s.order = slices.Delete(s.order, i, i+1)
	} else {
		s.known[key] = &session{refs: make(map[process]*refs.Table), pictures: make(map[int]shown), aliases: make(map[string]process), late: make(map[process]*lateness)}
	}
	s.order = append(s.order, key)
	if len(s.order) > maxSessions {
		delete(s.known, s.order[0])
		s.order = s.order[1:]
	}
	return s.known[key]
}

// forget drops what was remembered of processes that have ended. An alias stays: who
// uses it is told that its program has ended.
func (s *sessions) forget(ended []process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.known {
		one.forget(ended)
	}
}

// A session is what one conversation remembers. Safe for concurrent use.
type session struct {
	mu        sync.Mutex
	refs      map[process]*refs.Table
	aliases   map[string]process
	connected []int // processes
	actions   int
	pictures  map[int]shown // that were given last, by process
	late      map[process]*lateness
	listed    bool // the caller was told of all programs, and by what their windows tell them apart
}

func (s *session) forget(ended []process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, is := range ended {
		delete(s.refs, is)
		delete(s.late, is)
		delete(s.pictures, is.pid)
		s.connected = slices.DeleteFunc(s.connected, func(pid int) bool { return pid == is.pid })
	}
}

// refsOf returns the conversation's references into the program.
func (s *session) refsOf(app desktop.App) *refs.Table {
	s.mu.Lock()
	defer s.mu.Unlock()
	is := processOf(app)
	if s.refs[is] == nil {
		s.refs[is] = refs.New()
	}
	return s.refs[is]
}

// knows returns the references if the conversation has been told of the program, or
// nil.
func (s *session) knows(pid int) *refs.Table {
	s.mu.Lock()
	defer s.mu.Unlock()
	for is, known := range s.refs {
		if is.pid == pid {
			return known
		}
	}
	return nil
}

// connect remembers the program and the name it is to have here.
func (s *session) connect(app desktop.App, alias string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if alias != "" {
		s.aliases[alias] = processOf(app)
	}
	if !slices.Contains(s.connected, app.PID) {
		s.connected = append(s.connected, app.PID)
	}
}

// alias returns the process with the alias.
func (s *session) alias(name string) (is process, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	is, known = s.aliases[name]
	return is, known
}

// list notes that the caller was told of all programs.
func (s *session) list() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listed = true
}

// knowsAll reports whether the caller was told of all programs.
func (s *session) knowsAll() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listed
}

func (s *session) acted() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.actions++
}

// report returns the connected processes and how much was done.
func (s *session) report() (connected []int, actions int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.connected), s.actions
}
