// Package active publishes the active calls of all gateways of a person, and stops calls. Each
// gateway writes its active calls to a small file, without arguments and results; [ListActive]
// reads the files of all. A file is written only after a call has run for a moment, and removed
// when no call is active. A lock shows whether a file's gateway still runs, since the system
// releases it with the process. Process ids are reused, and are ambiguous in containers that
// share the folder. A [StopList] keeps stops in a file that all gateways watch and check before
// each stage of a call and between input events. A stop stays in force until the person starts
// the calls again. An unreadable file stops everything, since its content is unknown. A
// [ResultCache] keeps results of reading tools for a moment. A [LeaseStore] tells which agent works
// in which program. The package does not depend on doors and the journal.
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
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
	"github.com/gybob/aai-gateway/internal/gateway"
)

const (
	// publishDelay is the age from which a call is published, and the minimum interval between
	// two writes.
	publishDelay = 50 * time.Millisecond
	// maxPublished is the number of calls in a file; for further ones it contains only their
	// number.
	maxPublished = 200
	// maxActiveFile is the size limit of a file in bytes, for writing and reading.
	maxActiveFile = 1 << 20

	fileEnding = ".json"
	lockEnding = ".lock"
)

// activeFile is the content of a publisher's file.
type activeFile struct {
	Process int                 `json:"process"`
	Calls   []answer.ActiveCall `json:"calls"`
	Omitted int                 `json:"more,omitempty"` // number of calls not listed
}

// A Publisher publishes the active calls of one gateway. It is safe for concurrent use.
type Publisher struct {
	folder string
	active func() []gateway.ActiveCall
	log    *slog.Logger

	scheduled atomic.Bool // publish will run soon

	mu      sync.Mutex // guards the fields below
	path    string     // without suffix; "" before the first write
	lock    *flock.Flock
	written []byte // content of the file; nil: there is none
	closed  bool
}

// NewPublisher returns the publisher of one gateway. It touches no file until a call must be
// published. underway returns the active calls.
func NewPublisher(folder string, underway func() []gateway.ActiveCall, log *slog.Logger) *Publisher {
	return &Publisher{folder: folder, active: underway, log: log}
}

// StageChanged schedules a write of the active calls. It is quick; see gateway.Gateway.OnStageChange.
func (t *Publisher) StageChanged() {
	if !t.scheduled.Load() && t.scheduled.CompareAndSwap(false, true) {
		time.AfterFunc(publishDelay, t.publish)
	}
}

// publish writes the calls that are old enough, if they have changed.
func (t *Publisher) publish() {
	t.mu.Lock() // keeps snapshots in order
	defer t.mu.Unlock()
	t.scheduled.Store(false)
	say, again, size := activeFile{Process: os.Getpid()}, false, 0
	for _, u := range t.active() {
		switch young := time.Since(u.Since) < publishDelay-time.Millisecond; {
		case u.App == aai.BuiltinApp && u.Tool == ActiveToolName: // the listing itself is omitted
		case young:
			again = true
		case len(say.Calls) < maxPublished && size < maxActiveFile/2:
			row := activeCallOf(u)
			text, _ := json.Marshal(row) // strings and numbers cannot fail
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
		t.log.Warn("active calls cannot be published", "cause", err)
	}
}

func activeCallOf(u gateway.ActiveCall) answer.ActiveCall {
	return answer.ActiveCall{
		Call: u.Call, Parent: u.Parent, Door: u.Caller.Door, Caller: u.Caller.String(), Identity: u.Caller.Identity,
		App: u.App, Tool: u.Tool, Target: u.Target, On: u.Element.String(), Stage: string(u.Stage), Since: u.Since,
		Done: u.Done, Total: u.Total, Message: u.Message, Process: os.Getpid(),
	}
}

// write writes the file, or removes it if there are no calls. The caller holds t.mu.
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
		path, lock, err := claimName(t.folder)
		if err != nil {
			return err
		}
		t.path, t.lock = path, lock
	}
	if err := atomicfile.Replace(t.path+fileEnding, text); err != nil {
		return err
	}
	t.written = text
	return nil
}

// claimName chooses a name for the files of this gateway in the folder, and takes its lock. path has
// no suffix.
func claimName(folder string) (path string, lock *flock.Flock, err error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", nil, err
	}
	path = filepath.Join(folder, strconv.Itoa(os.Getpid())+"-"+rand.Text()[:8])
	lock = flock.New(path+lockEnding, flock.SetPermissions(0o600))
	if _, err := lock.TryLock(); err != nil {
		return "", nil, err
	}
	return path, lock, nil
}

// Close removes this gateway's files. Later calls are not published.
func (t *Publisher) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	if t.path == "" {
		return nil
	}
	if t.written != nil {
		_ = os.Remove(t.path + fileEnding) // a file without its lock has no effect
	}
	_ = t.lock.Unlock()
	return os.Remove(t.path + lockEnding)
}
