package streamable

import (
	"container/list"
	"context"
	"fmt"
	"iter"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// An eventLog stores the events of sessions' streams, so that a client can fetch the rest
// after its connection broke. If there are too many bytes, it drops the oldest events,
// first of a session with too many, then of all.
type eventLog struct {
	limit, sessionLimit int // bytes

	mu       sync.Mutex
	bytes    int
	order    *list.List // of *event, the oldest first
	sessions map[string]*sessionLog
}

type sessionLog struct {
	bytes   int
	order   *list.List // of *event, the oldest first
	streams map[string]*streamLog
	opened  []*streamLog // those of requests, the oldest first
}

// maxStreamsPerSession limits the stored streams of a session: each request opens one, and
// clients do not report that they no longer need one. It exceeds the number of requests
// that may run at once.
const maxStreamsPerSession = 256

// A streamLog is a sequence of events without gaps.
type streamLog struct {
	name  string
	first int // the index of events[0]
	// events are the stored events; the next one gets the index after theirs.
	events []*event
}

type event struct {
	data            []byte
	log             *sessionLog
	stream          *streamLog
	inAll, inOwnLog *list.Element
}

// eventCost is the approximate size of an event beside its data, in bytes.
const eventCost = 256

func (e *event) cost() int { return len(e.data) + eventCost }

func newEventLog(most, mostOfSession int) *eventLog {
	return &eventLog{limit: most, sessionLimit: min(most, mostOfSession), order: list.New(), sessions: make(map[string]*sessionLog)}
}

// open begins a stream.
func (l *eventLog) open(session, stream string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := l.sessions[session]
	if own == nil {
		own = &sessionLog{order: list.New(), streams: make(map[string]*streamLog)}
		l.sessions[session] = own
	}
	in := &streamLog{name: stream}
	own.streams[stream] = in
	if stream == "" {
		return // it lasts as long as the session
	}
	own.opened = append(own.opened, in)
	if len(own.opened) > maxStreamsPerSession {
		oldest := own.opened[0]
		for len(oldest.events) > 0 {
			l.drop(oldest.events[0])
		}
		delete(own.streams, oldest.name)
		own.opened[0] = nil
		own.opened = own.opened[1:]
	}
}

// append stores an event. It fails if the event is larger than a session's limit, or its
// stream is no longer stored; a later request for the event gets ErrEventsPurged.
func (l *eventLog) append(session, stream string, data []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := l.sessions[session]
	if own == nil || own.streams[stream] == nil {
		return fmt.Errorf("the stream is not kept: %w", mcp.ErrEventsPurged)
	}
	in := own.streams[stream]
	e := &event{data: data, log: own, stream: in}
	in.events = append(in.events, e)
	e.inAll, e.inOwnLog = l.order.PushBack(e), own.order.PushBack(e)
	l.bytes += e.cost()
	own.bytes += e.cost()
	for own.bytes > l.sessionLimit {
		l.drop(own.order.Front().Value.(*event))
	}
	for l.bytes > l.limit {
		l.drop(l.order.Front().Value.(*event))
	}
	if len(in.events) == 0 {
		return fmt.Errorf("an event of %d bytes is too large to be kept", len(data))
	}
	return nil
}

// drop drops the oldest event of a stream. The caller holds l.mu.
func (l *eventLog) drop(e *event) {
	e.stream.events[0] = nil
	e.stream.events = e.stream.events[1:]
	e.stream.first++
	l.order.Remove(e.inAll)
	e.log.order.Remove(e.inOwnLog)
	l.bytes -= e.cost()
	e.log.bytes -= e.cost()
}

// forget drops all events of a session.
func (l *eventLog) forget(session string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := l.sessions[session]
	if own == nil {
		return
	}
	for e := own.order.Front(); e != nil; e = e.Next() {
		l.order.Remove(e.Value.(*event).inAll)
	}
	l.bytes -= own.bytes
	delete(l.sessions, session)
}

// after returns the events of a stream that follow the index.
func (l *eventLog) after(session, stream string, index int) ([][]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var in *streamLog
	if own := l.sessions[session]; own != nil {
		in = own.streams[stream]
	}
	if in == nil {
		return nil, fmt.Errorf("the stream is unknown: %w", mcp.ErrEventsPurged)
	}
	if stream == "" && index < 0 {
		// A client without an index gets all stored events. The SDK counts from zero then.
		in.first = 0
	}
	from := index + 1 - in.first
	if from < 0 {
		return nil, fmt.Errorf("event %d is not kept any more: %w", index+1, mcp.ErrEventsPurged)
	}
	var data [][]byte
	for i := from; i < len(in.events); i++ {
		data = append(data, in.events[i].data)
	}
	return data, nil
}

// After implements mcp.EventStore.
func (ss *sessions) After(_ context.Context, sessionID, streamID string, index int) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		data, err := ss.events.after(sessionID, streamID, index)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, d := range data {
			if !yield(d, nil) {
				return
			}
		}
	}
}
