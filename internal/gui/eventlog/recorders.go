package eventlog

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/conversation"
)

// Config configures Recorders.
type Config struct {
	Backend desktop.Backend
	// State returns the state of a program for State listeners. Two states are the same if they are deeply equal.
	State func(*desktop.Snapshot) any
	// Apps returns the running programs.
	Apps func(context.Context) ([]desktop.App, error)
	// Current returns a running program as it is now: its connection may be another.
	Current func(context.Context, desktop.App) (desktop.App, error)
	// IsRunning reports whether a process runs.
	IsRunning func(pid int) bool
}

// Recorders are the recorders of all programs that are followed or read. They are safe for concurrent use.
type Recorders struct {
	config func() Config

	mu      sync.Mutex
	byRun   map[conversation.Process]*Recorder
	ended   []endedRun // oldest first
	notes   bool       // notifications are watched
	unknown []UnknownNotification
}

// The logs of the last maxEnded programs that ended can be read for the time endedTime.
const (
	maxEnded  = 20
	endedTime = 10 * time.Minute
)

// An endedRun is the log of a program that has ended.
type endedRun struct {
	log *Recorder
	at  time.Time
}

// New returns Recorders without one. config is called for the first recorder.
func New(config func() Config) *Recorders {
	return &Recorders{config: sync.OnceValue(config), byRun: map[conversation.Process]*Recorder{}}
}

// For returns the recorder of the program, and begins to record if there is none. It returns once events are recorded, or
// when ctx ends.
func (s *Recorders) For(ctx context.Context, app desktop.App) *Recorder {
	r := s.recorder(app)
	select {
	case <-r.ready:
	case <-ctx.Done():
	}
	return r
}

func (s *Recorders) recorder(app desktop.App) *Recorder {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := conversation.ProcessOf(app)
	if r := s.byRun[key]; r != nil {
		return r
	}
	if r := s.endedRecorder(func(a desktop.App) bool { return conversation.ProcessOf(a) == key }); r != nil {
		return r
	}
	r := &Recorder{
		config: s.config(), app: app, begun: time.Now(), read: time.Now(),
		wake: make(chan struct{}, 1), reads: make(chan chan struct{}), known: newKnown(), notes: make(chan note, 64), ready: make(chan struct{}), ended: make(chan struct{}),
	}
	for topic := range r.listeners {
		r.listeners[topic] = map[*listener]struct{}{}
	}
	s.byRun[key] = r
	r.retire = func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.byRun, key)
		s.ended = append(s.ended[max(0, len(s.ended)-maxEnded+1):], endedRun{r, time.Now()})
	}
	go func() {
		r.run(context.Background())
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.byRun, key)
	}()
	if !s.notes && r.config.Backend.Changes != nil {
		s.notes = true
		go s.watchNotifications(r.config.Backend.Changes)
	}
	return r
}

// notificationRetry is the pause before notifications are watched again, after the connection has ended.
const notificationRetry = 5 * time.Second

// watchNotifications passes notifications to the recorders of their programs while there are recorders.
func (s *Recorders) watchNotifications(changes desktop.Changes) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() {
		for aai.Sleep(ctx, notificationRetry) == nil {
			s.mu.Lock()
			if len(s.byRun) == 0 {
				s.notes = false
				stop()
			}
			s.mu.Unlock()
		}
	}()
	for ctx.Err() == nil {
		err := changes.WatchNotifications(ctx, s.note)
		if aai.AsError(err).Code == aai.AutomationNotSupported {
			<-ctx.Done()
			return
		}
		_ = aai.Sleep(ctx, notificationRetry) // the loop ends with the context
	}
}

// Ended returns the recorder of the program that ended last of those for which is returns true; nil if there is none. The
// caller found no such program, so one that is still recorded has ended, too.
func (s *Recorders) Ended(is func(desktop.App) bool) *Recorder {
	s.mu.Lock()
	defer s.mu.Unlock()
	var last *Recorder
	for _, r := range s.byRun {
		if is(r.App()) && (last == nil || r.begun.After(last.begun)) {
			last = r
		}
	}
	if last != nil {
		return last
	}
	return s.endedRecorder(is)
}

func (s *Recorders) endedRecorder(is func(desktop.App) bool) *Recorder {
	s.ended = slices.DeleteFunc(s.ended, func(e endedRun) bool { return time.Since(e.at) > endedTime })
	for _, e := range slices.Backward(s.ended) {
		if is(e.log.App()) {
			return e.log
		}
	}
	return nil
}

// note passes a notification to the recorder of its program.
func (s *Recorders) note(n desktop.Notification) {
	ctx, cancel := context.WithTimeout(context.Background(), lookTimeout)
	defer cancel()
	apps, err := s.config().Apps(ctx)
	app, claimed := senderOf(n, apps)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil || app == nil {
		s.addUnknown(n)
		return
	}
	if r := s.byRun[conversation.ProcessOf(*app)]; r != nil {
		select {
		case r.notes <- note{n, claimed}:
		default: // a flood
		}
	}
}
