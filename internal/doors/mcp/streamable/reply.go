package streamable

import (
	"bytes"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/doors/mcp/messages"
)

// A reply is the answer to an HTTP request. A client must take each message of
// it in a bounded time, and a stream on which nothing is said gets a comment now
// and then: proxies close what is silent, and the dead are only found out by
// writing to them.
type responseWriter struct {
	http.ResponseWriter
	control atomic.Pointer[http.ResponseController] // nil when the handler has returned
	// write is how long the client has to take a message; after silence a silent
	// stream gets a comment.
	write, keepAliveAfter time.Duration
	// onFirstWrite sees what is written first.
	onFirstWrite func([]byte)

	mu         sync.Mutex // guards the writer and what follows
	status     int        // zero until the header is out
	stream     bool       // of server-sent events
	lateStatus bool       // a status came after the header was out
	ended      bool
	unflushed  bool      // something that was written has not been sent
	written    time.Time // last
	timer      *time.Timer

	aborted atomic.Bool
}

func newResponseWriter(w http.ResponseWriter, write, silence time.Duration) *responseWriter {
	r := &responseWriter{ResponseWriter: w, write: write, keepAliveAfter: silence}
	r.control.Store(http.NewResponseController(w))
	r.extendWriteDeadline()
	return r
}

// extendWriteDeadline gives the client time to take what is written next.
func (r *responseWriter) extendWriteDeadline() {
	if !r.aborted.Load() {
		// A writer that knows no deadlines is one of a test.
		_ = r.control.Load().SetWriteDeadline(time.Now().Add(r.write))
	}
}

// WriteHeader implements http.ResponseWriter.
func (r *responseWriter) WriteHeader(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ended {
		r.begin(status)
	}
}

func (r *responseWriter) begin(status int) {
	if r.status != 0 {
		// A comment has gone out before: an error is an event of a stream now.
		r.lateStatus = r.stream && status != r.status
		return
	}
	r.status = status
	r.stream = status == http.StatusOK && strings.HasPrefix(r.Header().Get("Content-Type"), "text/event-stream")
	r.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (r *responseWriter) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return 0, net.ErrClosed
	}
	if r.status == 0 {
		r.begin(http.StatusOK)
	}
	if r.onFirstWrite != nil {
		r.onFirstWrite(b)
		r.onFirstWrite = nil
	}
	if r.lateStatus {
		if !bytes.HasPrefix(b, []byte("{")) {
			return len(b), nil // words for a person, where a client expects events
		}
		return len(b), r.writeEvent("event: message\ndata: " + string(b) + "\n\n")
	}
	r.extendWriteDeadline()
	r.written = time.Now()
	if n, err := r.ResponseWriter.Write(r.sanitizeError(b)); err != nil {
		return min(n, len(b)), err
	}
	return len(b), nil
}

// maxErrorText is how long the words are that refuse a request, in bytes.
const maxErrorText = 200

// sanitizeError takes out of an error what the SDK says of itself, and what it repeats of the
// request. What is no error is left as it is.
func (r *responseWriter) sanitizeError(b []byte) []byte {
	if r.status >= http.StatusBadRequest && !bytes.HasPrefix(b, []byte("{")) {
		return []byte(aai.CleanLabel(string(b), maxErrorText) + "\n")
	}
	if !bytes.Contains(b, []byte(`"error":{"code":`)) {
		return b
	}
	begin := 0
	if !bytes.HasPrefix(b, []byte("{")) {
		const data = "data: "
		if begin = bytes.Index(b, []byte(data+"{")) + len(data); begin < len(data) {
			return b
		}
	}
	end := len(b)
	if length := bytes.IndexByte(b[begin:], '\n'); length >= 0 {
		end = begin + length
	}
	m, err := jsonrpc.DecodeMessage(b[begin:end])
	if answer, ok := m.(*jsonrpc.Response); err != nil || !ok || answer.Error == nil {
		return b
	}
	message, err := jsonrpc.EncodeMessage(messages.WithCode(m))
	if err != nil {
		return b
	}
	return slices.Concat(b[:begin], message, b[end:])
}

// flushDelay is how long something said on a stream may wait for what comes next. Most
// answers are there by then, and all of it goes out at once.
const flushDelay = 2 * time.Millisecond

// FlushError implements what http.ResponseController calls.
func (r *responseWriter) FlushError() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.ended:
		return net.ErrClosed
	case !r.stream:
		return r.control.Load().Flush()
	case !r.unflushed:
		r.unflushed = true
		r.scheduleHeartbeat(flushDelay)
	}
	return nil
}

// scheduleHeartbeat has beat called after a time. It is called with r.mu held.
func (r *responseWriter) scheduleHeartbeat(after time.Duration) {
	if r.timer == nil {
		r.timer = time.AfterFunc(after, r.heartbeat)
		return
	}
	r.timer.Reset(after)
}

// openStream begins a stream of events before there is one.
func (r *responseWriter) openStream() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Header().Set("Content-Type", "text/event-stream")
	r.Header().Set("Cache-Control", "no-cache, no-transform")
	r.begin(http.StatusOK)
	_ = r.writeEvent(": ok\n\n") // whoever is gone is found out by the next
}

// Unwrap serves http.ResponseController, for all but flushing.
func (r *responseWriter) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// writeEvent writes and flushes an event or a comment.
func (r *responseWriter) writeEvent(text string) error {
	r.extendWriteDeadline()
	_, err := r.ResponseWriter.Write([]byte(text))
	r.written, r.unflushed = time.Now(), false
	r.scheduleHeartbeat(r.keepAliveAfter)
	if flushed := r.control.Load().Flush(); err == nil {
		err = flushed
	}
	return err
}

// keepAlive begins to keep the answer alive although nothing has been written.
// The SDK must have set the header.
func (r *responseWriter) keepAlive() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.timer == nil && !r.ended {
		r.scheduleHeartbeat(r.keepAliveAfter)
	}
}

// heartbeat sends what waits, or writes a comment if nothing was written for a while.
func (r *responseWriter) heartbeat() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return
	}
	if r.unflushed {
		r.unflushed = false
		r.extendWriteDeadline()
		_ = r.control.Load().Flush() // whoever is gone is found out by the next
		r.scheduleHeartbeat(r.keepAliveAfter)
		return
	}
	if silent := time.Since(r.written); silent < r.keepAliveAfter {
		r.scheduleHeartbeat(r.keepAliveAfter - silent)
		return
	}
	if r.status == 0 && strings.HasPrefix(r.Header().Get("Content-Type"), "text/event-stream") {
		r.begin(http.StatusOK)
	}
	if r.stream {
		_ = r.writeEvent(": keep-alive\n\n")
	}
}

// end is called when the handler returns. What is still buffered may be written.
func (r *responseWriter) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	if r.timer != nil {
		r.timer.Stop()
	}
	r.extendWriteDeadline()
	// The exchange may live as long as its session; the connection need not.
	r.control.Store(nil)
	r.ResponseWriter = nil
}

// abort makes what waits for the client fail, now and later. It does not take the
// lock, which a write that waits holds.
func (r *responseWriter) abort() {
	r.aborted.Store(true)
	if control := r.control.Load(); control != nil {
		_ = control.SetWriteDeadline(time.Unix(1, 0))
	}
}
