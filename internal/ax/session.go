package ax

import (
	"slices"
	"strings"
	"sync"

	"aai"
	"aai/internal/desktop"
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
	c := call.Caller
	key := strings.Join([]string{c.Door, c.Session, c.Principal}, "\x00")
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.order, key); i >= 0 {
		s.order = slices.Delete(s.order, i, i+1)
	} else {
		s.known[key] = &session{refs: make(map[int]*desktop.Refs), aliases: make(map[string]int)}
	}
	s.order = append(s.order, key)
	if len(s.order) > maxSessions {
		delete(s.known, s.order[0])
		s.order = s.order[1:]
	}
	return s.known[key]
}

// A session is what one conversation remembers. Safe for concurrent use.
type session struct {
	mu        sync.Mutex
	refs      map[int]*desktop.Refs // by process
	aliases   map[string]int        // processes
	connected []int                 // processes
	actions   int
}

// refsOf returns the conversation's references into the program.
func (s *session) refsOf(app desktop.App) *desktop.Refs {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refs[app.PID] == nil {
		s.refs[app.PID] = desktop.NewRefs()
	}
	return s.refs[app.PID]
}

// knows reports whether the conversation has been told of the program.
func (s *session) knows(pid int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refs[pid] != nil
}

// connect remembers the program and the name it is to have here.
func (s *session) connect(app desktop.App, alias string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if alias != "" {
		s.aliases[alias] = app.PID
	}
	if !slices.Contains(s.connected, app.PID) {
		s.connected = append(s.connected, app.PID)
	}
}

// alias returns the process with the alias, or zero.
func (s *session) alias(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.aliases[name]
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
