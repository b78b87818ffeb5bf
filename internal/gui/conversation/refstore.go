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

// RefStore keeps the refs of the terminal between its commands, each of which is a separate
// process: tree prints e12, and click accepts it. It is a folder with one file per program. The
// files contain names of the program's elements, but no typed text. An empty Folder keeps nothing.
type RefStore struct{ Folder string }

// refsLifetime is how long the terminal's refs stay valid, numbersReservedFor how long their
// numbers are not reused. lockRetryPause is the pause between two tries to take a program's lock.
const (
	refsLifetime       = time.Hour
	numbersReservedFor = 7 * 24 * time.Hour
	lockRetryPause     = 10 * time.Millisecond
)

// IsPersistent reports whether RefStore keeps the refs for the call, which are those of a terminal command.
func (m RefStore) IsPersistent(call *aai.Call) bool {
	return m.Folder != "" && call.Caller.Door == aai.DoorCLI
}

// Open returns the terminal's refs for the program, which the target's digest identifies, and a
// function to call at the end of the command. Until then other commands wait, so that each ref is
// unique.
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

// nextRefs returns new refs for a program without a file. Their numbers continue after those of
// other files with the digest: it may be the same program, restarted.
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

// lockOf returns the lock of one file: a program that hangs delays only its own commands.
func lockOf(file string) *flock.Flock {
	return flock.New(file+".lock", flock.SetPermissions(0o600))
}

// readRefs returns the refs of a file, or nil if there is none. Refs older than refsLifetime are
// invalid.
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

// writeRefs replaces the file atomically.
func writeRefs(file string, known *refs.Table) error {
	data, err := json.Marshal(known)
	if err != nil {
		return err
	}
	return atomicfile.Replace(file, data)
}

// prune removes the names from files of programs unused for an hour, and deletes the files after a
// week. The next command retries failures.
func (m RefStore) prune() {
	const wordless = 64 // bytes: a file without names is shorter
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
