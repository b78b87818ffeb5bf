// Package conversation holds the state between calls. A Session keeps the refs, aliases and last
// screenshots of one conversation. The AppCache keeps each program's ambient changes and pending
// effect. The RefStore keeps the refs of terminal commands.
package conversation

import (
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/delta"
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
	target      desktop.ID // the item or field that the action targetAt selected or set
	targetAt    int
	screenshots map[int]Screenshot // the last ones, by PID
	words       map[int]PictureWord
	lastWord    int
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

// MarkTarget records the item or field that the last action selected or set.
func (s *Session) MarkTarget(id desktop.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.target, s.targetAt = id, s.actions
}

// LastTarget returns the element of MarkTarget; "" if there is none or another action followed.
func (s *Session) LastTarget() desktop.ID {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.targetAt != s.actions {
		return ""
	}
	return s.target
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

// Process identifies one run of a program: the system reuses PIDs, with another start time.
type Process struct {
	PID     int
	started string
}

// ProcessOf returns the process of the program.
func ProcessOf(app desktop.App) Process { return Process{app.PID, app.Started} }

// AppCache holds the recent list of programs, and the state of each program that all conversations
// share. It is safe for concurrent use.
type AppCache struct {
	mu             sync.Mutex
	apps           []desktop.App
	at             time.Time
	absent         []Process // processes that were listed before and still run
	ambientChanges map[Process]*delta.AmbientChanges
	pending        map[Process]*watch.PendingEffect // of the program's last action, by any caller, if pending
	lastActed      map[Process]time.Time            // time of the last action by any caller
}

// listLifetime is how long a list stays valid: enough from finding a call's program to acting on
// it, if no question intervenes. A program that ends meanwhile fails on its next read.
const listLifetime = 100 * time.Millisecond

// Set stores a new list and returns the processes that have ended since the previous one. A program
// missing from the list may still run: it had no window for a moment, or did not answer.
func (l *AppCache) Set(apps []desktop.App, runs func(pid int) bool) (ended []Process) {
	l.mu.Lock()
	defer l.mu.Unlock()
	were := l.absent
	for _, was := range l.apps {
		were = append(were, ProcessOf(was))
	}
	l.absent = nil
	for _, was := range were {
		switch {
		case slices.ContainsFunc(apps, func(is desktop.App) bool { return ProcessOf(is) == was }):
		case runs(was.PID):
			l.absent = append(l.absent, was)
		default:
			ended = append(ended, was)
			delete(l.ambientChanges, was)
			delete(l.pending, was)
			delete(l.lastActed, was)
		}
	}
	l.apps, l.at = apps, time.Now()
	return ended
}

// Get returns the list, or nil if it is too old.
func (l *AppCache) Get() []desktop.App {
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(l.at) > listLifetime {
		return nil
	}
	return l.apps
}

// AmbientChangesOf returns the program's ambient changes, for the holder of its queue slot.
func (l *AppCache) AmbientChangesOf(app desktop.App) *delta.AmbientChanges {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ambientChanges == nil {
		l.ambientChanges = make(map[Process]*delta.AmbientChanges)
	}
	u := l.ambientChanges[ProcessOf(app)]
	if u == nil {
		u = &delta.AmbientChanges{}
		l.ambientChanges[ProcessOf(app)] = u
	}
	return u
}

// SetPending stores the pending effect of the last action of the conversation, and stops observing the previous one;
// nil deletes it.
func (s *Session) SetPending(app desktop.App, o *watch.PendingEffect) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if was := s.pending[ProcessOf(app)]; was != nil {
		was.Stop()
	}
	if s.pending[ProcessOf(app)] = o; o == nil {
		delete(s.pending, ProcessOf(app))
	}
}

// Pending returns the pending effect of this conversation's last action, or nil.
func (s *Session) Pending(app desktop.App) *watch.PendingEffect {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pending[ProcessOf(app)]
}

// SetPending stores the pending effect of the last action by any caller, for all conversations.
func (l *AppCache) SetPending(app desktop.App, o *watch.PendingEffect) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pending == nil {
		l.pending = make(map[Process]*watch.PendingEffect)
	}
	l.pending[ProcessOf(app)] = o
}

// Pending returns the pending effect of the last action by any caller, or nil.
func (l *AppCache) Pending(app desktop.App) *watch.PendingEffect {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pending[ProcessOf(app)]
}

// LastAction is the last action on a program by any caller; a zero At means never.
type LastAction struct {
	At      time.Time
	Pending *watch.PendingEffect // its effect, if the reply was sent before any was seen; or nil
}

// BeginAction records a new action on the program and returns the previous one. From now on, changes may no longer be
// effects of the previous action.
func (l *AppCache) BeginAction(app desktop.App) (before LastAction) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lastActed == nil {
		l.lastActed = make(map[Process]time.Time)
	}
	before = LastAction{l.lastActed[ProcessOf(app)], l.pending[ProcessOf(app)]}
	if l.lastActed[ProcessOf(app)] = time.Now(); before.Pending != nil {
		before.Pending.Supersede()
		delete(l.pending, ProcessOf(app))
	}
	return before
}

// Screenshot describes a screenshot that a conversation received: its area and scale.
type Screenshot struct {
	Window desktop.WindowID // 0: the screen
	At     desktop.Point    // position of the window at that time
	Area   desktop.Rect     // on the screen
	Scale  float64
}

// SetScreenshot stores the conversation's last screenshot; with pid 0 it is one of the whole
// screen, and replaces those of all programs.
func (s *Session) SetScreenshot(pid int, p Screenshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if pid == 0 {
		clear(s.screenshots)
	}
	s.screenshots[pid] = p
}

// Screenshot returns the last screenshot of the program in the conversation, or else of the screen; false without
// one.
func (s *Session) Screenshot(app desktop.App) (Screenshot, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, is := s.screenshots[app.PID]
	if !is {
		p, is = s.screenshots[0]
	}
	return p, is
}

// Baseline is the state of the screen after an action, to detect later windows. Callers that use it must hold the
// queue slot of the program.
type Baseline struct {
	Action       string // description of the action
	KnownWindows map[desktop.WindowID]bool
	Since        time.Time
}

// SetBaseline stores the baseline of the conversation's last action on the program; nil deletes it.
func (s *Session) SetBaseline(app desktop.App, e *Baseline) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.baselines[ProcessOf(app)] = e; e == nil {
		delete(s.baselines, ProcessOf(app))
	}
}

// Baseline returns the baseline of the last action of the conversation on the program, or nil.
func (s *Session) Baseline(app desktop.App) *Baseline {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.baselines[ProcessOf(app)]
}
