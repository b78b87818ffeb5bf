package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"aai/internal/leash"
)

// What a server may say, and how long it may take to listen.
const (
	maxMessage  = 16 << 20 // bytes of one message
	maxUnasked  = 200      // messages a second that nobody asked for are read; more are dropped
	maxFlood    = 20_000   // dropped ones within maxFloodTime end the server
	maxJunk     = 1000     // lines that are no message end it too
	maxDeaf     = 10 * time.Second
	floodPeriod = 10 * time.Second
)

// A wire is the connection to a server that was started: a message is a line. It holds back
// what nobody asked for where that is a flood, and keeps answers as they were written for
// who wants more of them than the SDK tells.
type wire struct {
	process *leash.Process
	said    *said
	lines   *bufio.Reader
	asks    *asks

	writing sync.Mutex
	mu      sync.Mutex
	waiting map[jsonrpc.ID]*raw
	open    map[jsonrpc.ID]bool // requests that were not answered
	fault   *fault              // why it was ended; nil: it was not
	begun   time.Time
	unasked int
	since   time.Time
	dropped int
	junk    int
	closed  bool
}

// A raw is the result of a request as it was written.
type raw struct{ result json.RawMessage }

type rawKey struct{}

// asWritten keeps the result of the request that is made with the context.
func asWritten(ctx context.Context) (context.Context, *raw) {
	r := new(raw)
	return context.WithValue(ctx, rawKey{}, r), r
}

// Connect implements sdk.Transport.
func (w *wire) Connect(context.Context) (sdk.Connection, error) { return w, nil }

// SessionID implements sdk.Connection.
func (w *wire) SessionID() string { return "" }

// Close implements sdk.Connection. The process is its owner's to end.
func (w *wire) Close() error {
	w.mu.Lock()
	was := w.closed
	w.closed = true
	w.mu.Unlock()
	if !was {
		_ = w.process.In.Close()
		_ = w.process.Out.Close()
	}
	return nil
}

// Write implements sdk.Connection.
func (w *wire) Write(ctx context.Context, m jsonrpc.Message) error {
	b, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	if request, ok := m.(*jsonrpc.Request); ok && request.ID.IsValid() {
		r, wanted := ctx.Value(rawKey{}).(*raw)
		w.mu.Lock()
		w.open[request.ID] = true
		if wanted {
			w.waiting[request.ID] = r
		}
		w.mu.Unlock()
	}
	w.writing.Lock()
	defer w.writing.Unlock()
	_ = w.process.In.SetWriteDeadline(time.Now().Add(maxDeaf))
	if _, err = w.process.In.Write(append(b, '\n')); errors.Is(err, os.ErrDeadlineExceeded) {
		return w.end(faulty("did not read what it was sent within %s", maxDeaf))
	}
	return err
}

// Read implements sdk.Connection.
func (w *wire) Read(context.Context) (jsonrpc.Message, error) {
	for {
		line, err := w.line()
		if err != nil {
			return nil, err
		}
		m, err := jsonrpc.DecodeMessage(line)
		if err != nil {
			if w.count(&w.junk) > maxJunk {
				return nil, w.end(faulty("wrote more than %d lines to standard output that are no messages", maxJunk))
			}
			w.said.junk(line)
			continue
		}
		switch m := m.(type) {
		case *jsonrpc.Response:
			if w.keep(m) {
				return m, nil
			}
			if flood := w.admit(); flood != nil {
				return nil, w.end(flood)
			}
			continue
		case *jsonrpc.Request:
			if m.ID.IsValid() {
				w.asks.hear(m.Method)
			}
			if flood := w.admit(); flood != nil {
				return nil, w.end(flood)
			} else if w.unasked > maxUnasked {
				continue
			}
		}
		return m, nil
	}
}

// line is the next one that is not empty.
func (w *wire) line() ([]byte, error) {
	var whole []byte
	for {
		part, err := w.lines.ReadSlice('\n')
		if len(whole)+len(part) > maxMessage {
			return nil, w.end(faulty("sent a message of more than %d MiB", maxMessage>>20))
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			whole = append(whole, part...)
			continue
		case err != nil && len(whole)+len(part) == 0:
			return nil, err
		case err != nil && !errors.Is(err, io.EOF):
			return nil, err
		}
		if whole = bytes.TrimSpace(append(whole, part...)); len(whole) > 0 || err != nil {
			return whole, nil //nolint:nilerr // the next reading says it
		}
	}
}

func (w *wire) count(n *int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	*n++
	return *n
}

// admit counts a message that nobody asked for, and says whether it is one too many for good.
func (w *wire) admit() *fault {
	now := time.Now()
	if now.Sub(w.begun) > time.Second {
		w.begun, w.unasked = now, 0
	}
	if now.Sub(w.since) > floodPeriod {
		w.since, w.dropped = now, 0
	}
	if w.unasked++; w.unasked > maxUnasked {
		w.dropped++
	}
	if w.dropped > maxFlood {
		return faulty("sent more than %d messages within %s that nobody asked for", maxFlood, floodPeriod)
	}
	return nil
}

// keep gives who waits for it the result as it was written. It reports whether anybody has
// asked for the answer.
func (w *wire) keep(m *jsonrpc.Response) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.open[m.ID] {
		return false
	}
	delete(w.open, m.ID)
	if r := w.waiting[m.ID]; r != nil {
		r.result = m.Result
		delete(w.waiting, m.ID)
	}
	return true
}

// forget lets go of a result that nobody waits for any more.
func (w *wire) forget(r *raw) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, waiting := range w.waiting {
		if waiting == r {
			delete(w.waiting, id)
		}
	}
}

// end ends the server for what it did.
func (w *wire) end(f *fault) error {
	w.mu.Lock()
	if w.fault == nil {
		w.fault = f
	}
	w.mu.Unlock()
	w.process.Kill()
	return f
}

// why is what the server was ended for, nil if it was not.
func (w *wire) why() *fault {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.fault
}
