package webapi

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
)

const (
	// maxEventBytes limits the data of one message of an event stream.
	maxEventBytes = 256 << 10
	// maxFieldBytes limits the other fields of a message.
	maxFieldBytes = 1 << 10
	// The pause before a stream that ended is opened again, unless the server says another one.
	streamPause, maxStreamPause = time.Second, time.Minute
)

// eventStream is an event stream (text/event-stream) that one or more events of an app come by.
type eventStream struct {
	*tool
	names map[string][]string // of the events, by the type of message

	mu     sync.Mutex
	lastID string // of the last message
	pause  time.Duration
}

// CompileEvents implements [aai.EventDriver]. The Fields of an event are the JSON object in the message's data, or other
// data under "data". A stream that ended is resumed after its last message, if the messages have ids.
func (d *Driver) CompileEvents(recipes []*aai.Recipe) (aai.EventSource, error) {
	var streams []*eventStream
	var requests []aai.HTTPRecipe
	for _, r := range recipes {
		t, err := d.compile(r)
		if err != nil {
			return nil, err
		}
		request := *r.HTTP
		request.Event = ""
		at := slices.IndexFunc(requests, func(other aai.HTTPRecipe) bool { return reflect.DeepEqual(other, request) })
		if at < 0 {
			t.headers.Set("Accept", eventStreamType)
			t.headers.Set("Cache-Control", "no-cache")
			at, requests = len(streams), append(requests, request)
			streams = append(streams, &eventStream{tool: t, names: map[string][]string{}, pause: streamPause})
		}
		streams[at].names[r.HTTP.Event] = append(streams[at].names[r.HTTP.Event], r.Event)
	}
	return func(ctx context.Context, ready func(), report func(aai.Event)) error {
		return receiveAll(ctx, streams, ready, report)
	}, nil
}

const eventStreamType = "text/event-stream"

// receiveAll receives from the streams until one of them fails.
func receiveAll(ctx context.Context, streams []*eventStream, ready func(), report func(aai.Event)) error {
	ctx, cancel := context.WithCancel(aai.NonInteractive(ctx))
	var wait sync.WaitGroup
	defer wait.Wait()
	defer cancel()
	failed := make(chan error, len(streams))
	opened := make(chan struct{}, len(streams))
	var reporting sync.Mutex
	for _, s := range streams {
		wait.Go(func() {
			failed <- s.receive(ctx, func() { opened <- struct{}{} }, func(e aai.Event) {
				reporting.Lock()
				defer reporting.Unlock()
				report(e)
			})
		})
	}
	for range streams {
		select {
		case <-opened:
		case err := <-failed:
			return err
		}
	}
	ready()
	return <-failed
}

// receive receives from the stream. It opens a stream that can be resumed again, until that fails.
func (s *eventStream) receive(ctx context.Context, opened func(), report func(aai.Event)) error {
	for open := sync.OnceFunc(opened); ; {
		x, err := s.open(ctx)
		if err != nil {
			return err
		}
		open()
		err = s.read(x, report)
		_ = x.resp.Body.Close()
		s.mu.Lock()
		resumable, pause := s.lastID != "", s.pause
		s.mu.Unlock()
		if !resumable {
			e := aai.Errorf(aai.APIRequestFailed, "the event stream of %s ended", s.address.origin)
			e.RetryAfter, e.Err = pause, err
			return e
		}
		if err := aai.Sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// open requests the stream, after the last message.
func (s *eventStream) open(ctx context.Context) (*exchange, error) {
	m, err := s.message(ctx, &aai.Call{})
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	if s.lastID != "" {
		m.headers.Set("Last-Event-Id", s.lastID)
	}
	s.mu.Unlock()
	for again := false; ; {
		x, f := s.exchange(ctx, m)
		if f != nil {
			return nil, f.err
		}
		renewed, f := x.handleRefusal(ctx)
		kind, _, _ := mime.ParseMediaType(x.resp.Header.Get("Content-Type"))
		switch {
		case f == nil && x.resp.StatusCode == http.StatusOK && kind == eventStreamType:
			return x, nil
		case f == nil && renewed && !again:
			_ = x.resp.Body.Close()
			again = true
			continue
		case f == nil && x.resp.StatusCode == http.StatusOK:
			f = &failure{err: aai.Errorf(aai.APIRequestFailed, "%s answered with %q; expected an event stream, %s", s.tool, aai.CleanLabel(kind, 60), eventStreamType)}
		case f == nil:
			f = x.refusal(ctx)
		}
		_ = x.resp.Body.Close()
		return nil, f.err
	}
}

// streamMessage is a message of an event stream while it is read.
type streamMessage struct {
	kind     string
	data     bytes.Buffer
	tooLarge bool
	hasData  bool
}

// read reads messages until the stream ends.
func (s *eventStream) read(x *exchange, report func(aai.Event)) error {
	body, _, err := x.plainBody()
	if err != nil {
		return err
	}
	lines, m, id := bufio.NewReaderSize(body, 16<<10), &streamMessage{}, ""
	for first := true; ; first = false {
		line, cut, err := readLine(lines)
		if err != nil {
			return rootCause(err)
		}
		if first {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		if len(line) == 0 && !cut {
			s.dispatch(x, m, id, report)
			m = &streamMessage{}
			continue
		}
		name, value, _ := strings.Cut(string(line), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case name == "data":
			m.add(value, cut)
		case len(value) > maxFieldBytes:
		case name == "event":
			m.kind = value
		case name == "id" && !strings.Contains(value, "\x00"):
			id = value
		case name == "retry":
			if ms, err := strconv.ParseUint(value, 10, 32); err == nil {
				s.mu.Lock()
				s.pause = min(max(time.Duration(ms)*time.Millisecond, streamPause), maxStreamPause)
				s.mu.Unlock()
			}
		}
	}
}

// add adds a line of data.
func (m *streamMessage) add(line string, cut bool) {
	if m.tooLarge = m.tooLarge || cut || m.data.Len()+len(line) > maxEventBytes; m.tooLarge {
		m.data.Reset()
	}
	if m.hasData && !m.tooLarge {
		m.data.WriteByte('\n')
	}
	if m.hasData = true; !m.tooLarge {
		m.data.WriteString(line)
	}
}

// readLine returns a line without its end; cut reports that it was too long, and is not complete.
func readLine(r *bufio.Reader) (line []byte, cut bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > maxEventBytes+maxFieldBytes {
			cut, part = true, nil
		}
		line = append(line, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil:
			return nil, false, err
		}
		return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r")), cut, nil
	}
}

// dispatch reports a complete message.
func (s *eventStream) dispatch(x *exchange, m *streamMessage, id string, report func(aai.Event)) {
	s.mu.Lock()
	s.lastID = id
	s.mu.Unlock()
	if !m.hasData {
		return
	}
	if m.kind == "" {
		m.kind = "message"
	}
	for _, name := range s.names[m.kind] {
		report(aai.Event{Type: name, Fields: x.secrets.RedactValue(m.fields())})
	}
}

// fields returns the data of the message.
func (m *streamMessage) fields() any {
	if m.tooLarge {
		return map[string]any{"omitted": "the message has more than " + sizeText(maxEventBytes)}
	}
	d := json.NewDecoder(bytes.NewReader(m.data.Bytes()))
	d.UseNumber()
	var value any
	if !json.Valid(m.data.Bytes()) || d.Decode(&value) != nil {
		return map[string]any{"data": m.data.String()}
	}
	if object, ok := value.(map[string]any); ok {
		return object
	}
	return map[string]any{"data": value}
}
