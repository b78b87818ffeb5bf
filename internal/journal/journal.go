// Package journal keeps what happened: one line of JSON for each entry that
// Gateway.Do makes, appended to a file that only its owner may read.
//
// The file is made by the first entry, never at start-up, because clients start
// gateways that they throw away. Several gateways may append to one file: each
// entry is one write to a file opened for appending. The package imports the
// root package and nothing else of ours.
package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"aai"
)

// File modes: the journal says what its owner does all day.
const (
	folderMode = 0o700
	fileMode   = 0o600
)

// maxArgs is how many bytes of one call's arguments the journal keeps, as JSON.
// What is longer is replaced by its length.
const maxArgs = 16 << 10

// A Journal appends to one file. It is safe for concurrent use.
type Journal struct {
	path string

	toDisk func(*os.File) error // flushes a file: its Sync

	write  sync.Mutex // guards what follows
	file   *os.File
	opened fs.FileInfo // of file
	torn   bool        // the file ends in half a line
	// written counts entries; flushed is how many of them are known to be on
	// disk, lost up to which of them a flush failed.
	written, lost int64

	flush   sync.Mutex // guards flushed, and is held while the disk works
	flushed int64
}

// New returns a journal that appends to the file at path. It touches nothing
// until the first Record.
func New(path string) *Journal { return &Journal{path: path, toDisk: (*os.File).Sync} }

// Path returns where the journal is.
func (j *Journal) Path() string { return j.path }

// Record appends the entry. When it returns nil the entry is in the file, and
// on disk if e.Durable says so.
func (j *Journal) Record(_ context.Context, e *aai.Entry) error {
	line, err := encode(e)
	if err != nil {
		return err
	}
	n, err := j.append(line)
	if err != nil {
		return err
	}
	if e.Durable() {
		return j.sync(n)
	}
	return nil
}

// Close closes the file. A later Record opens it again.
func (j *Journal) Close() error {
	j.write.Lock()
	defer j.write.Unlock()
	if j.file == nil {
		return nil
	}
	err := j.file.Close()
	j.file = nil
	return err
}

// append writes one line and returns its number.
func (j *Journal) append(line []byte) (int64, error) {
	j.write.Lock()
	defer j.write.Unlock()
	if err := j.open(); err != nil {
		return 0, err
	}
	if j.torn {
		line = append([]byte("\n"), line...)
	}
	n, err := j.file.Write(line)
	if err != nil {
		if n > 0 {
			// Half a line must not swallow the next one, be it ours or that of
			// another gateway.
			_, again := j.file.WriteString("\n")
			j.torn = again != nil
		}
		return 0, fmt.Errorf("append to the journal: %w", err)
	}
	j.torn = false
	j.written++
	return j.written, nil
}

// open makes sure that j.file is the file at j.path, also when somebody has
// moved or removed the one that was open: an entry in a file that nobody can
// find is not recorded.
func (j *Journal) open() error {
	if j.file != nil {
		if info, err := os.Lstat(j.path); err == nil && os.SameFile(info, j.opened) {
			return nil
		}
		if err := errors.Join(j.toDisk(j.file), j.file.Close()); err != nil {
			j.lost = j.written
		}
		j.file = nil
	}
	if err := os.MkdirAll(filepath.Dir(j.path), folderMode); err != nil {
		return fmt.Errorf("make the journal's folder: %w", err)
	}
	f, err := openAppend(j.path, fileMode)
	if err != nil {
		return fmt.Errorf("open the journal: %w", err)
	}
	info, torn, err := examine(f)
	if err != nil {
		_ = f.Close() // nothing was written to it
		return fmt.Errorf("open the journal: %w", err)
	}
	j.file, j.opened, j.torn = f, info, torn
	return nil
}

// examine reports whether the file ends in half a line, as after a crash.
func examine(f *os.File) (info fs.FileInfo, torn bool, err error) {
	info, err = f.Stat()
	if err != nil {
		return nil, false, err
	}
	if !info.Mode().IsRegular() {
		return nil, false, fmt.Errorf("%s is no regular file", f.Name())
	}
	if info.Size() == 0 {
		return info, false, nil
	}
	var last [1]byte
	if _, err := f.ReadAt(last[:], info.Size()-1); err != nil {
		return nil, false, err
	}
	return info, last[0] != '\n', nil
}

// sync returns when line n is on disk. Callers that wait at the same time share
// one trip to the disk: whoever holds the lock flushes everything written so far.
func (j *Journal) sync(n int64) error {
	j.flush.Lock()
	defer j.flush.Unlock()
	j.write.Lock()
	file, upTo, lost := j.file, j.written, j.lost
	j.write.Unlock()
	switch {
	case n <= lost:
		// A system may drop what it could not write and report success next time.
		return errors.New("flush the journal: the flush that was to take this entry along failed")
	case n <= j.flushed:
		return nil
	case file == nil:
		return errors.New("the journal was closed before the entry was on disk")
	}
	if err := j.toDisk(file); err != nil {
		j.write.Lock()
		j.lost = upTo
		j.write.Unlock()
		return fmt.Errorf("flush the journal: %w", err)
	}
	j.flushed = upTo
	return nil
}

// line is an entry as the file has it. Times are RFC 3339 in UTC with
// nanoseconds, durations milliseconds.
type line struct {
	Time   string        `json:"time"`
	Kind   aai.EntryKind `json:"kind"`
	Call   string        `json:"call"`
	Parent string        `json:"parent,omitempty"`
	Door   string        `json:"door,omitempty"`
	Caller string        `json:"caller,omitempty"`
	Conv   string        `json:"session,omitempty"`
	Who    string        `json:"principal,omitempty"`
	App    string        `json:"app,omitempty"`
	Tool   string        `json:"tool,omitempty"`
	Target string        `json:"target,omitempty"`
	Effect string        `json:"effect,omitempty"`
	Digest string        `json:"digest,omitempty"`
	Agreed string        `json:"consent,omitempty"`
	Args   any           `json:"args,omitempty"`
	Result string        `json:"result,omitempty"`
	Detail string        `json:"message,omitempty"`
	Sent   aai.Delivery  `json:"delivery,omitempty"`
	Millis float64       `json:"ms,omitempty"`
}

// succeeded is the result of a call that ended well.
const succeeded = "ok"

func encode(e *aai.Entry) ([]byte, error) {
	l := line{
		Time: e.Time.UTC().Format(timeFormat), Kind: e.Kind, Call: e.Call, Parent: e.Parent,
		Door: e.Caller.Door, Caller: e.Caller.Name, Conv: e.Caller.Session, Who: e.Caller.Principal,
		App: e.App, Tool: e.Tool, Target: e.Target, Digest: e.Digest, Agreed: e.Consent,
		Detail: e.Message, Sent: e.Delivery, Millis: float64(e.Elapsed.Microseconds()) / 1000,
	}
	switch e.Kind {
	case aai.Received:
	case aai.Intent:
		l.Effect = e.Effect.String()
		args, err := encodeArgs(e.Args)
		if err != nil {
			return nil, err
		}
		l.Args = args
	case aai.Outcome:
		l.Result = succeeded
		if e.Code != "" {
			l.Result = string(e.Code)
		}
	}
	b, err := json.Marshal(l)
	if err != nil {
		return nil, fmt.Errorf("encode a journal entry: %w", err)
	}
	return append(b, '\n'), nil
}

func encodeArgs(args map[string]any) (any, error) {
	if len(args) == 0 {
		return nil, nil
	}
	b, err := json.Marshal(args)
	if err != nil {
		return nil, fmt.Errorf("encode the arguments for the journal: %w", err)
	}
	if len(b) > maxArgs {
		return map[string]int{"omitted_bytes": len(b)}, nil
	}
	return json.RawMessage(b), nil
}
