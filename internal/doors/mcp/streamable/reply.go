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

// A responseWriter writes the answer to an HTTP request. A client must accept each message
// in a limited time, and a silent stream gets a comment at intervals: proxies close silent
// connections, and only a write detects dead ones.
type responseWriter struct {
	http.ResponseWriter
	control atomic.Pointer[http.ResponseController] // nil when the handler has returned
	// write is the time for the client to accept a message; after keepAliveAfter a silent
	// stream gets a comment.
	write, keepAliveAfter time.Duration
	// onFirstWrite is called with the first written bytes.
	onFirstWrite func([]byte)

	mu         sync.Mutex // guards the writer and the following fields
	status     int        // zero until the header is written
	stream     bool       // of server-sent events
	lateStatus bool       // a status came after the header was written
	ended      bool
	unflushed  bool      // written bytes have not been flushed
	written    time.Time // time of the last write
	timer      *time.Timer

	aborted atomic.Bool
}

func newResponseWriter(w http.ResponseWriter, write, silence time.Duration) *responseWriter {
	r := &responseWriter{ResponseWriter: w, write: write, keepAliveAfter: silence}
	r.control.Store(http.NewResponseController(w))
	r.extendWriteDeadline()
	return r
}

// extendWriteDeadline gives the client time to accept the next write.
func (r *responseWriter) extendWriteDeadline() {
	if !r.aborted.Load() {
		// The error is ignored: only the response writers of tests have no deadlines.
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
		// A comment was written before: an error is an event of the stream now.
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
			return len(b), nil // text for people, where a client expects events
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

// maxErrorText limits the text of an error, in bytes.
const maxErrorText = 200

// sanitizeError removes the SDK's internals from an error, and the parts of the request
// that it repeats. It returns other bytes unchanged.
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

// flushDelay is the time that an event may wait for the next one. Most answers exist by
// then, and both are sent at once.
const flushDelay = 2 * time.Millisecond

// FlushError implements the method that http.ResponseController calls.
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

// scheduleHeartbeat calls heartbeat after a time. The caller holds r.mu.
func (r *responseWriter) scheduleHeartbeat(after time.Duration) {
	if r.timer == nil {
		r.timer = time.AfterFunc(after, r.heartbeat)
		return
	}
	r.timer.Reset(after)
}

// openStream begins a stream of events before there is an event.
func (r *responseWriter) openStream() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Header().Set("Content-Type", "text/event-stream")
	r.Header().Set("Cache-Control", "no-cache, no-transform")
	r.begin(http.StatusOK)
	_ = r.writeEvent(": ok\n\n") // the next write detects a lost client
}

// Unwrap serves http.ResponseController, except for flushing.
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

// keepAlive starts to keep the answer alive before the first write. The SDK must have set
// the header.
func (r *responseWriter) keepAlive() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.timer == nil && !r.ended {
		r.scheduleHeartbeat(r.keepAliveAfter)
	}
}

// heartbeat flushes pending bytes, or writes a comment if nothing was written for a while.
func (r *responseWriter) heartbeat() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return
	}
	if r.unflushed {
		r.unflushed = false
		r.extendWriteDeadline()
		_ = r.control.Load().Flush() // the next write detects a lost client
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

// end runs when the handler returns. Buffered bytes may still be sent.
func (r *responseWriter) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	if r.timer != nil {
		r.timer.Stop()
	}
	r.extendWriteDeadline()
	// The exchange may live as long as its session; the connection must not.
	r.control.Store(nil)
	r.ResponseWriter = nil
}

// abort makes writes to the client fail, now and later. It does not take the lock, because
// a blocked write holds it.
func (r *responseWriter) abort() {
	r.aborted.Store(true)
	if control := r.control.Load(); control != nil {
		_ = control.SetWriteDeadline(time.Unix(1, 0))
	}
}
