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

	"github.com/gybob/aai-gateway/internal/process"
)

// What a server may say, and how long it may take to listen.
const (
	maxMessage      = 16 << 20 // bytes of one message
	maxUnsolicited  = 200      // messages a second that nobody asked for are read; more are dropped
	maxDroppedFlood = 20_000   // dropped ones within maxFloodTime end the server
	maxJunk         = 1000     // lines that are no message end it too
	writeTimeout    = 10 * time.Second
	floodPeriod     = 10 * time.Second
)

// A wire is the connection to a server that was started: a message is a line. It holds back
// what nobody asked for where that is a flood, and keeps answers as they were written for
// who wants more of them than the SDK tells.
type wire struct {
	process  *process.Subprocess
	stderr   *stderrLog
	lines    *bufio.Reader
	requests *serverRequests

	writing     sync.Mutex
	mu          sync.Mutex
	waiting     map[jsonrpc.ID]*rawResult
	open        map[jsonrpc.ID]bool // requests that were not answered
	fault       *serverFault        // why it was ended; nil: it was not
	begun       time.Time
	unsolicited int
	since       time.Time
	dropped     int
	junk        int
	closed      bool
}

// A raw is the result of a request as it was written.
type rawResult struct{ result json.RawMessage }

type rawResultKey struct{}

// withRawResult keeps the result of the request that is made with the context.
func withRawResult(ctx context.Context) (context.Context, *rawResult) {
	r := new(rawResult)
	return context.WithValue(ctx, rawResultKey{}, r), r
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
		_ = w.process.Stdin.Close()
		_ = w.process.Stdout.Close()
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
		r, wanted := ctx.Value(rawResultKey{}).(*rawResult)
		w.mu.Lock()
		w.open[request.ID] = true
		if wanted {
			w.waiting[request.ID] = r
		}
		w.mu.Unlock()
	}
	w.writing.Lock()
	defer w.writing.Unlock()
	_ = w.process.Stdin.SetWriteDeadline(time.Now().Add(writeTimeout))
	if _, err = w.process.Stdin.Write(append(b, '\n')); errors.Is(err, os.ErrDeadlineExceeded) {
		return w.end(newServerFault("did not read what it was sent within %s", writeTimeout))
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
				return nil, w.end(newServerFault("wrote more than %d lines to standard output that are no messages", maxJunk))
			}
			w.stderr.logJunk(line)
			continue
		}
		switch m := m.(type) {
		case *jsonrpc.Response:
			if w.deliverRaw(m) {
				return m, nil
			}
			if flood := w.countUnsolicited(); flood != nil {
				return nil, w.end(flood)
			}
			continue
		case *jsonrpc.Request:
			if m.ID.IsValid() {
				w.requests.countRefused(m.Method)
			}
			if flood := w.countUnsolicited(); flood != nil {
				return nil, w.end(flood)
			} else if w.unsolicited > maxUnsolicited {
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
			return nil, w.end(newServerFault("sent a message of more than %d MiB", maxMessage>>20))
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

// countUnsolicited counts a message that nobody asked for, and says whether it is one too many for good.
func (w *wire) countUnsolicited() *serverFault {
	now := time.Now()
	if now.Sub(w.begun) > time.Second {
		w.begun, w.unsolicited = now, 0
	}
	if now.Sub(w.since) > floodPeriod {
		w.since, w.dropped = now, 0
	}
	if w.unsolicited++; w.unsolicited > maxUnsolicited {
		w.dropped++
	}
	if w.dropped > maxDroppedFlood {
		return newServerFault("sent more than %d messages within %s that nobody asked for", maxDroppedFlood, floodPeriod)
	}
	return nil
}

// deliverRaw gives who waits for it the result as it was written. It reports whether anybody has
// asked for the answer.
func (w *wire) deliverRaw(m *jsonrpc.Response) bool {
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
func (w *wire) forget(r *rawResult) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, waiting := range w.waiting {
		if waiting == r {
			delete(w.waiting, id)
		}
	}
}

// end ends the server for what it did.
func (w *wire) end(f *serverFault) error {
	w.mu.Lock()
	if w.fault == nil {
		w.fault = f
	}
	w.mu.Unlock()
	w.process.Kill()
	return f
}

// why is what the server was ended for, nil if it was not.
func (w *wire) why() *serverFault {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.fault
}
