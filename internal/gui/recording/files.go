package recording

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/automation/recorded"
)

// Files in the folder of recordings. The lock is held while a recording runs, and runningFile has its name; stopName asks the
// process that records, which may be another one, to end it.
const (
	lockName    = "lock"
	runningFile = "running"
	stopName    = "stop"
	suffix      = ".jsonl"
)

const (
	maxListed  = 500
	maxFile    = 1 << 20 // bytes of a recording
	stopPause  = 200 * time.Millisecond
	lockPause  = 50 * time.Millisecond
	lockWait   = time.Second // a look at the lock holds it for a moment
	maxPicture = 300         // pictures of one recording
)

// A Row is a recording in the list.
type Row struct {
	Name      string    `json:"name"` // of the file
	App       string    `json:"app"`
	Begun     time.Time `json:"begun"`
	Count     int       `json:"count"`
	Recording bool      `json:"recording"` // it still runs
	Fault     string    `json:"fault,omitempty"`
}

// lock takes the lock of the recording, and forgets requests to end an earlier one.
func (m *Manager) lock(ctx context.Context) (*flock.Flock, error) {
	if err := os.MkdirAll(m.Folder, 0o700); err != nil {
		return nil, unkeptError(err)
	}
	lock := flock.New(filepath.Join(m.Folder, lockName), flock.SetPermissions(0o600))
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	switch _, err := lock.TryLockContext(ctx, lockPause); {
	case errors.Is(err, context.DeadlineExceeded):
		return nil, runningError("another gateway's program")
	case err != nil:
		return nil, unkeptError(err)
	}
	_ = os.Remove(filepath.Join(m.Folder, stopName))
	return lock, nil
}

// keepPicture keeps the picture of the nth step of a recording, and returns its name; "" if it cannot: the step counts.
func (m *Manager) keepPicture(file string, n int, picture []byte) string {
	name := fmt.Sprintf("%s%s%d.png", strings.TrimSuffix(file, suffix), pictureMark, n)
	if picture == nil {
		_ = os.Remove(filepath.Join(m.Folder, name))
		return ""
	}
	if n > maxPicture || os.WriteFile(filepath.Join(m.Folder, name), picture, 0o600) != nil {
		return ""
	}
	return name
}

// runningName returns the name of the file that any process records; "" if none does.
func (m *Manager) runningName() string {
	lock := flock.New(filepath.Join(m.Folder, lockName), flock.SetFlag(os.O_RDONLY))
	defer lock.Close() //nolint:errcheck // it was only tried
	if free, err := lock.TryRLock(); err != nil || free {
		return ""
	}
	name, err := os.ReadFile(filepath.Join(m.Folder, runningFile))
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(name))
}

// IsRunning reports whether the file of that name is being recorded, by any process.
func (m *Manager) IsRunning(name string) bool { return name != "" && m.runningName() == name }

// list lists the recordings, the newest first.
func (m *Manager) list(context.Context, *aai.Call) (*aai.Result, error) {
	rows, running := []Row{}, m.runningName()
	entries, err := os.ReadDir(m.Folder)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, unkeptError(err)
	}
	for _, entry := range entries {
		if name := entry.Name(); strings.HasSuffix(name, suffix) && len(rows) < maxListed {
			rows = append(rows, m.row(name, name == running))
		}
	}
	slices.SortFunc(rows, func(a, b Row) int { return b.Begun.Compare(a.Begun) })
	return &aai.Result{Data: rows}, nil
}

func (m *Manager) row(name string, running bool) Row {
	row := Row{Name: name, Recording: running}
	path := filepath.Join(m.Folder, name)
	info, err := os.Stat(path)
	if err == nil && info.Size() > maxFile {
		err = errors.New("it is larger than a recording may be")
	}
	var source []byte
	if err == nil {
		source, err = os.ReadFile(path)
	}
	var h recorded.Header
	var steps []recorded.Step
	if err == nil {
		h, steps, err = recorded.Read(source)
	}
	if err != nil {
		row.Fault = aai.CleanLabel(err.Error(), 200)
		return row
	}
	row.App, row.Begun, row.Count = h.App, h.Begun, len(steps)
	return row
}

// remove deletes a recording with its pictures.
func (m *Manager) remove(_ context.Context, call *aai.Call) (*aai.Result, error) {
	name, _ := call.Args["name"].(string)
	e := aai.Errorf(aai.InvalidParams, "name: there is no recording %s", aai.CleanLabel(name, 100))
	e.Delivery = aai.NotDelivered
	if base, is := strings.CutSuffix(name, suffix); !is || base == "" || filepath.Base(name) != name {
		return nil, e
	}
	if m.IsRunning(name) {
		e.Message, e.Hint = "name: this recording still runs", "Stop it first."
		return nil, e
	}
	if err := os.Remove(filepath.Join(m.Folder, name)); err != nil {
		if !errors.Is(err, os.ErrNotExist) {
			return nil, unkeptError(err)
		}
		return nil, e
	}
	entries, err := os.ReadDir(m.Folder)
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), strings.TrimSuffix(name, suffix)+pictureMark) {
			err = errors.Join(err, os.Remove(filepath.Join(m.Folder, entry.Name())))
		}
	}
	if err != nil {
		return nil, unkeptError(err)
	}
	return &aai.Result{Text: "Deleted with its pictures."}, nil
}

// awaitStop waits until another process asks for the end of the recording, or ctx ends.
func (m *Manager) awaitStop(ctx context.Context, end context.CancelFunc) {
	stop := filepath.Join(m.Folder, stopName)
	for aai.Sleep(ctx, stopPause) == nil {
		if os.Remove(stop) == nil {
			end()
			return
		}
	}
}

// stopElsewhere ends the recording of another process, and reports its steps.
func (m *Manager) stopElsewhere(ctx context.Context, name string) (*aai.Result, error) {
	if err := os.WriteFile(filepath.Join(m.Folder, stopName), nil, 0o600); err != nil {
		return nil, unkeptError(err)
	}
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	for m.IsRunning(name) {
		if aai.Sleep(ctx, lockPause) != nil {
			return nil, aai.Errorf(aai.Timeout, "the recording did not end in time; its file is %s", filepath.Join(m.Folder, name))
		}
	}
	row := m.row(name, false)
	return &aai.Result{
		Text: aai.Count(row.Count, "step") + " recorded in " + aai.CleanLabel(row.App, 60),
		Data: View{App: row.App, Count: row.Count, File: filepath.Join(m.Folder, name)},
	}, nil
}

// pictureMark stands between the name of a recording and the number of a step in the name of a picture.
const pictureMark = ".step"
