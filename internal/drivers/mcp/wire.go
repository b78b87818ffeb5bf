package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway/internal/process"
	"github.com/gybob/aai-gateway/internal/schema/jsonscan"
)

// Limits for a server's messages and for writing to it.
const (
	maxMessage      = 16 << 20 // bytes of one message
	maxValues       = 300_000  // values and names of one message, which take far more memory than their text
	maxDepth        = 900      // nested containers of one message; the SDK stops at 1,000
	maxUnsolicited  = 200      // unsolicited messages read per second; more are dropped
	maxDroppedFlood = 20_000   // dropped messages within floodPeriod that end the server
	maxJunk         = 1000     // invalid lines that end the server
	writeTimeout    = 10 * time.Second
	floodPeriod     = 10 * time.Second
)

// wire is the connection to a server process, with one message per line. It limits floods of
// unsolicited messages, and keeps raw results for callers that need more of them than the SDK
// decodes.
type wire struct {
	process  *process.Subprocess
	stderr   *stderrLog
	lines    *bufio.Reader
	requests *serverRequests
	notices  *notices

	writing     sync.Mutex
	mu          sync.Mutex
	waiting     map[jsonrpc.ID]*rawResult
	open        map[jsonrpc.ID]bool // pending requests
	fault       *serverFault        // reason for ending the server, or nil
	begun       time.Time
	unsolicited int
	since       time.Time
	dropped     int
	junk        int
	closed      bool
}

// rawResult is the raw JSON result of a request. The structured content of a tool's result is kept
// apart from it, and is nil if there is none.
type rawResult struct{ result, structured json.RawMessage }

type rawResultKey struct{}

// withRawResult returns a context that stores the raw result of its request.
func withRawResult(ctx context.Context) (context.Context, *rawResult) {
	r := new(rawResult)
	return context.WithValue(ctx, rawResultKey{}, r), r
}

// Connect implements sdk.Transport.
func (w *wire) Connect(context.Context) (sdk.Connection, error) { return w, nil }

// SessionID implements sdk.Connection.
func (w *wire) SessionID() string { return "" }

// Close implements sdk.Connection. It does not end the process.
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
	if request, ok := m.(*jsonrpc.Request); ok {
		replaced, err := replace(ctx, request)
		if err != nil {
			return err
		}
		m = replaced
	}
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
		return w.end(newServerFault("did not read its input within %s", writeTimeout))
	}
	return err
}

// Read implements sdk.Connection.
func (w *wire) Read(context.Context) (jsonrpc.Message, error) {
	for {
		line, excess, err := w.line()
		if err != nil {
			return nil, err
		}
		m, err := w.readMessage(line, excess)
		if err != nil {
			if w.count(&w.junk) > maxJunk {
				return nil, w.end(newServerFault("wrote more than %d lines without messages to standard output", maxJunk))
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

// line returns the next line that is not empty, or the count of a line that exceeds a limit on values
// or depth, without its text. It reads such a line to its end.
func (w *wire) line() ([]byte, *jsonscan.Scanner, error) {
	var parts [][]byte
	length, scan := 0, new(jsonscan.Scanner)
	for {
		part, err := w.lines.ReadSlice('\n')
		if length += len(part); length > maxMessage {
			return nil, nil, w.end(newServerFault("sent a message of more than %d MiB", maxMessage>>20))
		}
		_, _ = scan.Write(part)
		exceeds := excessOf(scan) != ""
		if exceeds {
			parts, part = nil, nil
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			parts = append(parts, bytes.Clone(part))
			continue
		case err != nil && length == 0:
			return nil, nil, err
		case err != nil && !errors.Is(err, io.EOF):
			return nil, nil, err
		case exceeds:
			return nil, scan, nil
		}
		if whole := trimLine(slices.Concat(append(parts, part)...)); len(whole) > 0 || err != nil {
			return whole, nil, nil //nolint:nilerr // the next read returns it
		}
		parts, length, *scan = nil, 0, jsonscan.Scanner{}
	}
}

// trimLine removes white space, and the byte order mark that some runtimes write first.
func trimLine(line []byte) []byte {
	return bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(line), []byte("\ufeff")))
}

func (w *wire) count(n *int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	*n++
	return *n
}

// countUnsolicited counts an unsolicited message. It returns a fault if the limit is exceeded.
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
	if w.unsolicited == maxUnsolicited+1 {
		w.notices.dropped()
	}
	if w.dropped > maxDroppedFlood {
		return newServerFault("sent more than %d unrequested messages within %s", maxDroppedFlood, floodPeriod)
	}
	return nil
}

// deliverRaw stores the raw result for its waiting caller, and removes its structured content, which
// the SDK would decode too. It reports whether the response belongs to a pending request.
func (w *wire) deliverRaw(m *jsonrpc.Response) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if text, is := m.ID.Raw().(string); is && !w.open[m.ID] { // some servers return the number as a text
		if number, err := strconv.ParseFloat(text, 64); err == nil {
			if id, err := jsonrpc.MakeID(number); err == nil {
				m.ID = id
			}
		}
	}
	if !w.open[m.ID] {
		return false
	}
	delete(w.open, m.ID)
	if r := w.waiting[m.ID]; r != nil {
		m.Result, r.structured = splitStructured(m.Result)
		r.result = m.Result
		delete(w.waiting, m.ID)
	}
	return true
}

// forget removes a result that no caller waits for.
func (w *wire) forget(r *rawResult) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, waiting := range w.waiting {
		if waiting == r {
			delete(w.waiting, id)
		}
	}
}

// end ends the server because of a fault.
func (w *wire) end(f *serverFault) error {
	w.mu.Lock()
	if w.fault == nil {
		w.fault = f
	}
	w.mu.Unlock()
	w.process.Kill()
	return f
}

// why returns the fault for which the driver ended the server, or nil.
func (w *wire) why() *serverFault {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.fault
}
