package events

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
)

const (
	// idleTime is how long an app without listeners is recorded after it was read.
	idleTime = 10 * time.Minute
	// maxFields limits the values of one event, in bytes as JSON.
	maxFields = 64 << 10
	// The pause after a lost connection doubles with each failure.
	firstPause, maxPause = time.Second, time.Minute
	// steadyTime is how long a connection must last for the next pause to be the first again.
	steadyTime = time.Minute
)

// Recorders record the events of the apps that are followed or read. The zero Recorders is empty. It is safe for
// concurrent use.
type Recorders struct {
	mu     sync.Mutex
	byKey  map[string]*recorder
	closed bool
}

// Close ends all recordings, and no later one begins.
func (s *Recorders) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, r := range s.byKey {
		r.stop()
	}
	return nil
}

// A recorder records the events of one source.
type recorder struct {
	log   Log
	begun time.Time
	ready chan struct{} // closed after the first attempt to connect
	stop  context.CancelFunc

	mu        sync.Mutex
	listeners map[*listener]struct{}
	read      time.Time // of the last reading
	fault     string    // why events cannot be received; "": they are
	isReady   bool
}

// A listener is called after each event.
type listener struct{ changed func() }

// recorder returns the recorder of the key, and begins to record if there is none. It returns after the first attempt to
// connect, or when ctx ends.
func (s *Recorders) recorder(ctx context.Context, key string, source aai.EventSource) *recorder {
	s.mu.Lock()
	r := s.byKey[key]
	if r == nil {
		r = &recorder{begun: time.Now(), read: time.Now(), ready: make(chan struct{}), listeners: map[*listener]struct{}{}}
		if s.byKey == nil {
			s.byKey = map[string]*recorder{}
		}
		s.byKey[key] = r
		var recording context.Context
		if recording, r.stop = context.WithCancel(context.Background()); s.closed {
			r.stop()
		}
		go s.record(recording, key, r, source)
	}
	r.mu.Lock()
	r.read = time.Now()
	r.mu.Unlock()
	s.mu.Unlock()
	select {
	case <-r.ready:
	case <-ctx.Done():
	}
	return r
}

// record records until the recorder is unused.
func (s *Recorders) record(ctx context.Context, key string, r *recorder, source aai.EventSource) {
	defer r.connected("the gateway is shutting down")
	go func() {
		defer r.stop()
		for aai.Sleep(ctx, idleTime/10) == nil {
			if s.removeUnused(key, r) {
				return
			}
		}
	}()
	pause := firstPause
	for ctx.Err() == nil {
		began := time.Now()
		err := source(ctx, func() { r.connected("") }, r.add)
		if ctx.Err() != nil {
			return
		}
		cause, wait := "the connection has ended", pause
		if e := aai.AsError(err); e != nil {
			cause, wait = aai.CleanLabel(e.Message, 300), max(pause, min(e.RetryAfter, maxPause))
		}
		r.connected(cause)
		if pause = min(2*pause, maxPause); time.Since(began) > steadyTime {
			pause = firstPause
		}
		_ = aai.Sleep(ctx, wait) // the loop ends with the context
	}
}

// removeUnused forgets a recorder without listeners that was not read for the time idleTime.
func (s *Recorders) removeUnused(key string, r *recorder) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.listeners) > 0 || time.Since(r.read) < idleTime {
		return false
	}
	delete(s.byKey, key)
	return true
}

// discard ends a recording that has no listeners.
func (s *Recorders) discard(key string, r *recorder) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.listeners) == 0 && s.byKey[key] == r {
		delete(s.byKey, key)
		r.stop()
	}
}

// connected stores why events cannot be received, "" if they are, and adds an event where they ended.
func (r *recorder) connected(fault string) {
	r.mu.Lock()
	was, first := r.fault, !r.isReady
	r.fault, r.isReady = fault, true
	r.mu.Unlock()
	if first {
		close(r.ready)
	}
	if fault != "" && was == "" && !first {
		r.log.Add(Event{Type: Lost, Detail: fault, At: time.Now()})
		r.notify()
	}
}

// add records an event.
func (r *recorder) add(e aai.Event) {
	entry := Event{Type: e.Type, Detail: e.Detail, At: e.At}
	if entry.At.IsZero() {
		entry.At = time.Now()
	}
	if e.Fields != nil {
		entry.Fields = fieldsOf(e.Fields)
	}
	r.log.Add(entry)
	r.notify()
}

// fieldsOf returns the values as JSON, or their size if they are too long.
func fieldsOf(values any) json.RawMessage {
	fields, err := json.Marshal(values)
	switch {
	case err != nil:
		return json.RawMessage(`{"omitted":"the values are no JSON"}`)
	case len(fields) > maxFields:
		return json.RawMessage(fmt.Sprintf(`{"omitted":"%d bytes; at most %d are kept"}`, len(fields), maxFields))
	}
	return fields
}

// notify calls the listeners.
func (r *recorder) notify() {
	r.mu.Lock()
	all := make([]*listener, 0, len(r.listeners))
	for l := range r.listeners {
		all = append(all, l)
	}
	r.mu.Unlock()
	for _, l := range all {
		l.changed()
	}
}

// listen calls changed, which must not block, after each event, until stop.
func (r *recorder) listen(changed func()) (stop func()) {
	l := &listener{changed}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.listeners[l] = struct{}{}
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.listeners, l)
		r.read = time.Now()
	}
}

// updates describes how events become known.
func (r *recorder) updates() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case !r.isReady:
		return "not connected yet"
	case r.fault != "":
		return "none now: " + r.fault
	}
	return ByEvents
}
