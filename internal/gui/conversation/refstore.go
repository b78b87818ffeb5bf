package conversation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/refs"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// A Files keeps the references of the terminal between its commands, each of
// which is a process of its own: tree shows e12, and click means it. It is a
// folder with a file for each program. The files hold the names of what the
// program shows, but not what was typed into it. With no folder nothing is kept.
type RefStore struct{ Folder string }

// For how long the terminal's references are good, for how long their numbers are
// not given again, and how often a command looks whether another one that has the
// same program at work is over.
const (
	refsLifetime       = time.Hour
	numbersReservedFor = 7 * 24 * time.Hour
	lockRetryPause     = 10 * time.Millisecond
)

// IsPersistent reports whether the call's conversation outlives the process.
func (m RefStore) IsPersistent(call *aai.Call) bool {
	return m.Folder != "" && call.Caller.Door == aai.DoorCLI
}

// Open returns the terminal's references into the program, which the digest of its target
// tells from others, and what is to be called when the command is over. Until then other commands wait for it, so that
// no reference is given twice.
func (m RefStore) Open(ctx context.Context, app desktop.App, digest string) (known *refs.Table, done func() error, err error) {
	if err := os.MkdirAll(m.Folder, 0o700); err != nil {
		return nil, nil, notKept(err)
	}
	file := filepath.Join(m.Folder, fmt.Sprintf("%d-%.16s.json", app.PID, digest))
	lock := lockOf(file)
	if ok, err := lock.TryLockContext(ctx, lockRetryPause); !ok {
		if ctx.Err() != nil {
			return nil, nil, busy(app)
		}
		return nil, nil, notKept(err)
	}
	if known, err = readRefs(file); err == nil && known == nil {
		known, err = m.nextRefs(digest)
	}
	if err != nil {
		_ = lock.Close()
		return nil, nil, notKept(err)
	}
	return known, func() error {
		err := errors.Join(writeRefs(file, known), lock.Close())
		m.prune()
		return err
	}, nil
}

// nextRefs are the references into a program of which there is no file. They go on after those into
// others of the digest: it may be the same one, begun anew.
func (m RefStore) nextRefs(digest string) (*refs.Table, error) {
	files, err := filepath.Glob(filepath.Join(m.Folder, fmt.Sprintf("*-%.16s.json", digest)))
	if err != nil {
		return nil, err
	}
	others := make([]*refs.Table, len(files))
	for i, file := range files {
		if others[i], err = readRefs(file); err != nil {
			return nil, err
		}
	}
	return refs.NewAfter(others...), nil
}

func notKept(err error) error {
	e := aai.Errorf(aai.AutomationFailed, "references cannot be kept: %w", err)
	e.Delivery = aai.NotDelivered
	return e
}

// lockOf is the lock of a file, which goes with it: a program that hangs holds up
// only the commands to it.
func lockOf(file string) *flock.Flock {
	return flock.New(file+".lock", flock.SetPermissions(0o600))
}

// readRefs returns the references of a file, or nil where there is none. Those that are old have
// come to mean nothing.
func readRefs(file string) (*refs.Table, error) {
	known := refs.New()
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, known); err != nil {
		return nil, fmt.Errorf("%s: %w; delete the file", file, err)
	}
	if time.Since(info.ModTime()) > refsLifetime {
		known = refs.NewAfter(known)
	}
	return known, nil
}

// writeRefs replaces the file, or leaves it as it was.
func writeRefs(file string, known *refs.Table) error {
	data, err := json.Marshal(known)
	if err != nil {
		return err
	}
	return atomicfile.Replace(file, data)
}

// prune takes the words out of the files of programs that were not worked with
// for an hour, and deletes them after a week. What cannot be done now is left to
// the next command.
func (m RefStore) prune() {
	const wordless = 64 // bytes: a file without words is shorter
	files, err := filepath.Glob(filepath.Join(m.Folder, "*-*.json"))
	if err != nil {
		return
	}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil || time.Since(info.ModTime()) < refsLifetime {
			continue
		}
		old := time.Since(info.ModTime()) > numbersReservedFor
		if !old && info.Size() < wordless {
			continue
		}
		lock := lockOf(file)
		if ok, err := lock.TryLock(); !ok || err != nil {
			continue
		}
		if known, err := readRefs(file); old || known == nil || err != nil {
			_ = os.Remove(file)
			_ = os.Remove(lock.Path())
		} else {
			_ = writeRefs(file, known)
		}
		_ = lock.Close()
	}
}

func busy(app desktop.App) error {
	e := aai.Errorf(aai.Timeout, "other commands to %s took until the deadline", aai.CleanLabel(app.Name, 60))
	e.Delivery = aai.NotDelivered
	return e
}
