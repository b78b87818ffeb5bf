// Package running says what runs: each gateway of the person tells in a small file of its
// own which of its calls are under way, and whoever asks reads the files of all. A file has
// no arguments and no answers. It is written only when a call has been under way for a
// moment, so that what ends at once costs nothing, and it is gone when nothing runs.
//
// Whether a file's gateway still lives a lock says, which ends with its process however
// that ends: a number of a process is given again, and means nothing in a container that
// shares the folder. The package knows no door and no record.
package active

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

const (
	// publishDelay is how long a call has been under way when it is told, and at least how long
	// one telling comes after the other.
	publishDelay = 50 * time.Millisecond
	// maxPublished is how many calls a gateway tells; of more it tells the number.
	maxPublished = 200
	// maxActiveFile is how long what it tells may be, in bytes; who reads takes no more.
	maxActiveFile = 1 << 20

	fileEnding = ".json"
	lockEnding = ".lock"
)

// A Row is a call under way, as it is told.
type ActiveCall struct {
	Call     string    `json:"call"`
	Parent   string    `json:"parent,omitempty"`
	Door     string    `json:"door"`
	Caller   string    `json:"caller"` // what it calls itself, with its door
	Identity string    `json:"identity,omitempty"`
	App      string    `json:"app"`
	Tool     string    `json:"tool"`
	Target   string    `json:"target,omitempty"`
	On       string    `json:"on,omitempty"`
	Stage    aai.Stage `json:"stage"`
	Since    time.Time `json:"since"`
	Done     float64   `json:"done,omitempty"`
	Total    float64   `json:"total,omitempty"`
	Message  string    `json:"message,omitempty"`
	Process  int       `json:"process"` // of the gateway
}

// activeFile is what stands in a file.
type activeFile struct {
	Process int          `json:"process"`
	Calls   []ActiveCall `json:"calls"`
	Omitted int          `json:"more,omitempty"` // calls that are not told
}

// A Teller tells what runs in one gateway. It is safe for concurrent use.
type Publisher struct {
	folder string
	active func() []aai.ActiveCall
	log    *slog.Logger

	scheduled atomic.Bool // it will tell soon

	mu      sync.Mutex // guards what follows
	path    string     // without its ending; "": nothing was told yet
	lock    *flock.Flock
	written []byte // nil: there is no file
	closed  bool
}

// NewPublisher returns the teller of one gateway. It touches nothing until there is something
// to tell. The function says what is under way.
func NewPublisher(folder string, underway func() []aai.ActiveCall, log *slog.Logger) *Publisher {
	return &Publisher{folder: folder, active: underway, log: log}
}

// StageChanged notes that something may have to be told. It is quick; see aai.Gateway.Moved.
func (t *Publisher) StageChanged() {
	if !t.scheduled.Load() && t.scheduled.CompareAndSwap(false, true) {
		time.AfterFunc(publishDelay, t.publish)
	}
}

// publish writes what has been under way for a moment, where that is not what was told.
func (t *Publisher) publish() {
	t.mu.Lock() // who looked first writes first
	defer t.mu.Unlock()
	t.scheduled.Store(false)
	say, again, size := activeFile{Process: os.Getpid()}, false, 0
	for _, u := range t.active() {
		switch young := time.Since(u.Since) < publishDelay-time.Millisecond; {
		case u.App == aai.BuiltinApp && u.Tool == ActiveToolName: // who looks is not what is looked for
		case young:
			again = true
		case len(say.Calls) < maxPublished && size < maxActiveFile/2:
			row := activeCallOf(u)
			text, _ := json.Marshal(row) // it is texts and numbers
			say.Calls, size = append(say.Calls, row), size+len(text)
		default:
			say.Omitted++
		}
	}
	if again {
		t.StageChanged()
	}
	if t.closed {
		return
	}
	if err := t.write(say); err != nil {
		t.log.Warn("what runs cannot be told", "cause", err)
	}
}

func activeCallOf(u aai.ActiveCall) ActiveCall {
	return ActiveCall{
		Call: u.Call, Parent: u.Parent, Door: u.Caller.Door, Caller: u.Caller.String(), Identity: u.Caller.Identity,
		App: u.App, Tool: u.Tool, Target: u.Target, On: u.Element.String(), Stage: u.Stage, Since: u.Since,
		Done: u.Done, Total: u.Total, Message: u.Message, Process: os.Getpid(),
	}
}

// write is called with t.mu held.
func (t *Publisher) write(say activeFile) error {
	if len(say.Calls) == 0 {
		if t.written == nil {
			return nil
		}
		t.written = nil
		return os.Remove(t.path + fileEnding)
	}
	text, err := json.Marshal(say)
	if err != nil || bytes.Equal(text, t.written) {
		return err
	}
	if t.path == "" {
		if err := t.claimName(); err != nil {
			return err
		}
	}
	if err := atomicfile.Replace(t.path+fileEnding, text); err != nil {
		return err
	}
	t.written = text
	return nil
}

// claimName takes a name and its lock.
func (t *Publisher) claimName() error {
	if err := os.MkdirAll(t.folder, 0o700); err != nil {
		return err
	}
	path := filepath.Join(t.folder, strconv.Itoa(os.Getpid())+"-"+rand.Text()[:8])
	lock := flock.New(path+lockEnding, flock.SetPermissions(0o600))
	if _, err := lock.TryLock(); err != nil {
		return err
	}
	t.path, t.lock = path, lock
	return nil
}

// Close takes away what was told.
func (t *Publisher) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	if t.path == "" {
		return nil
	}
	if t.written != nil {
		_ = os.Remove(t.path + fileEnding) // it may be gone; without its lock it counts for nothing
	}
	_ = t.lock.Unlock()
	return os.Remove(t.path + lockEnding)
}
