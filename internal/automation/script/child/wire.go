package child

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/gybob/aai-gateway"
)

// Limits for messages and for a script's output, in bytes.
const (
	MaxFrame  = 8 << 20   // of one message
	MaxArgs   = 2 << 20   // of the arguments of a call
	MaxResult = 1 << 20   // of the script's result, as JSON
	MaxLog    = 64 << 10  // of the entire log
	MaxMemory = 256 << 20 // of the process, resident
)

// Job is the first message to the process: the script to run.
type Job struct {
	Script string          `json:"script"`
	Args   json.RawMessage `json:"args"`
	App    string          `json:"app"` // default app for call
	CPU    int             `json:"cpu"` // seconds of processor time
}

// Message is a message from the process. One of its fields is set.
type Message struct {
	Call *Call   `json:"call,omitempty"` // the process waits for the Reply
	Log  *string `json:"log,omitempty"`
	Done *Done   `json:"done,omitempty"` // the last message
}

// Call is a tool call that the script asks the parent to make.
type Call struct {
	App  string          `json:"app"`
	Tool string          `json:"tool"`
	Args json.RawMessage `json:"args,omitempty"`
}

// Reply is the parent's answer to a Call: a value or a fault.
type Reply struct {
	Value json.RawMessage `json:"value,omitempty"`
	Fault *Fault          `json:"fault,omitempty"`
}

// Fault is the error of a call, which the script can catch.
type Fault struct {
	Code         aai.Code     `json:"code"`
	Message      string       `json:"message"`
	Hint         string       `json:"hint,omitempty"`
	Delivery     aai.Delivery `json:"delivery,omitempty"`
	Candidates   []string     `json:"candidates,omitempty"`
	RetryAfterMS int64        `json:"retry_after_ms,omitempty"`
}

// Done is the result of the script, or the failure that ended it.
type Done struct {
	Value     json.RawMessage `json:"value,omitempty"`
	Truncated string          `json:"cut,omitempty"`  // the beginning of the value's JSON, if that is too long
	Size      int             `json:"size,omitempty"` // of the entire JSON, if it was truncated
	Failure   *Failure        `json:"fail,omitempty"`
}

// Failure is the error that ended a script.
type Failure struct {
	Syntax  bool   `json:"syntax,omitempty"` // it is a syntax error
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Message string `json:"message"`
	Code    string `json:"code,omitempty"` // of a thrown call error
	Hint    string `json:"hint,omitempty"`
}

// ErrFrameTooLong is the error of Write for a message that exceeds MaxFrame. Nothing was written.
var ErrFrameTooLong = errors.New("the message is too long for the pipe")

// Write writes one message as JSON, after its length. It does not escape HTML, which would make a
// text of "<" six times as long.
func Write(w io.Writer, message any) error {
	body := bytes.NewBuffer(make([]byte, 4))
	e := json.NewEncoder(body)
	e.SetEscapeHTML(false)
	if err := e.Encode(message); err != nil {
		return err
	}
	size := body.Len() - 4
	if size > MaxFrame {
		return ErrFrameTooLong
	}
	binary.BigEndian.PutUint32(body.Bytes(), uint32(size))
	_, err := w.Write(body.Bytes())
	return err
}

// Read decodes the next message of Write into message. It allocates no more than was sent.
func Read(r io.Reader, message any) error {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	size := binary.BigEndian.Uint32(head[:])
	if size > MaxFrame {
		return fmt.Errorf("a message has %d bytes; the limit is %d", size, MaxFrame)
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
