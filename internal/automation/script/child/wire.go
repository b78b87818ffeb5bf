package child

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"

	"github.com/gybob/aai-gateway"
)

// What may go over the pipe, and come of a script, in bytes.
const (
	MaxFrame  = 8 << 20   // of one message
	MaxArgs   = 2 << 20   // of the arguments of a call
	MaxResult = 1 << 20   // of what the script returns, as JSON
	MaxLog    = 64 << 10  // of all that it logs
	MaxMemory = 256 << 20 // of the process, resident
)

// A Job is what the process is to run: the first message to it.
type Job struct {
	Script string          `json:"script"`
	Args   json.RawMessage `json:"args"`
	App    string          `json:"app"` // whose tools call means that names no app
	CPU    int             `json:"cpu"` // seconds of processor time
}

// A Message is what the process says: one of its fields is set.
type Message struct {
	Call *Call   `json:"call,omitempty"` // it waits for the Reply
	Log  *string `json:"log,omitempty"`
	Done *Done   `json:"done,omitempty"` // the last one
}

// A Call is one that the script wants made.
type Call struct {
	App  string          `json:"app"`
	Tool string          `json:"tool"`
	Args json.RawMessage `json:"args,omitempty"`
}

// A Reply is what came of a call: a value, or why there is none.
type Reply struct {
	Value json.RawMessage `json:"value,omitempty"`
	Fault *Fault          `json:"fault,omitempty"`
}

// A Fault is an error as a script has it.
type Fault struct {
	Code         aai.Code     `json:"code"`
	Message      string       `json:"message"`
	Hint         string       `json:"hint,omitempty"`
	Delivery     aai.Delivery `json:"delivery,omitempty"`
	Candidates   []string     `json:"candidates,omitempty"`
	RetryAfterMS int64        `json:"retry_after_ms,omitempty"`
}

// Done is how the script ended.
type Done struct {
	Value     json.RawMessage `json:"value,omitempty"`
	Truncated string          `json:"cut,omitempty"`  // the beginning of the value's JSON, where that is too long
	Size      int             `json:"size,omitempty"` // of all of it, where it was cut
	Failure   *Failure        `json:"fail,omitempty"`
}

// A Failure is why a script came to nothing.
type Failure struct {
	Syntax  bool   `json:"syntax,omitempty"` // it is no script
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Message string `json:"message"`
	Code    string `json:"code,omitempty"` // what was thrown has it, as a call's error does
	Hint    string `json:"hint,omitempty"`
}

// Write writes one message.
func Write(w io.Writer, message any) error {
	body, err := json.Marshal(message)
	if err != nil {
		return err
	}
	if len(body) > MaxFrame {
		return fmt.Errorf("a message has %d bytes, of %d that may be", len(body), MaxFrame)
	}
	frame := make([]byte, 4, 4+len(body))
	binary.BigEndian.PutUint32(frame, uint32(len(body)))
	_, err = w.Write(append(frame, body...))
	return err
}

// Read reads one message. It makes room for no more than what was sent.
func Read(r io.Reader, message any) error {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	size := binary.BigEndian.Uint32(head[:])
	if size > MaxFrame {
		return fmt.Errorf("a message of %d bytes, of %d that may be", size, MaxFrame)
	}
	body, err := io.ReadAll(io.LimitReader(r, int64(size)))
	if err != nil {
		return err
	}
	if len(body) < int(size) {
		return io.ErrUnexpectedEOF
	}
	return json.Unmarshal(body, message)
}
