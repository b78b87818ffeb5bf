package atomicfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// lockTimeout is how long a change waits for the others: each takes milliseconds, and whoever
// has the lock for so long is stuck.
const lockTimeout = 10 * time.Second

// lockRetry is how long somebody who waits for a lock lets others go first.
const lockRetry = 5 * time.Millisecond

// Update changes a file as Keep does, one process at a time and one call at a time in each:
// edit gets what is in it, nil if it is absent, and returns what shall be. If edit fails,
// its error is returned and nothing is changed. What would be too large to be read again is
// not written. The folder is made if there is none, for this user alone.
//
// A symbolic link is read through, and replaced by the file. Update waits ten seconds for
// the others at most, and not longer than ctx.
func Update(ctx context.Context, path string, limits ReadLimits, edit func(old []byte) ([]byte, error)) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	unlock, err := Lock(ctx, path)
	if err != nil {
		return err
	}
	defer unlock()
	old, err := read(path, limits)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	now, err := edit(old)
	if err != nil {
		return err
	}
	if err := limits.checkSize(now); err != nil {
		return err
	}
	return ReplaceDurable(path, now)
}

// Lock waits until nobody else, in this process or another, has the lock of a file, or ctx
// ends. The lock is a file beside it, with the ending ".lock", which stays. Whoever dies has
// it no more.
func Lock(ctx context.Context, path string) (unlock func(), err error) {
	lock := flock.New(path+".lock", flock.SetFlag(os.O_CREATE|os.O_RDONLY|noFollow), flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, lockRetry); err != nil {
		return nil, fmt.Errorf("lock %s: %w", lock.Path(), err)
	}
	return func() { _ = lock.Unlock() }, nil // closing the file releases it too
}
