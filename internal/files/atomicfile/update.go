package atomicfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/gofrs/flock"
)

// lockTimeout is the wait for other updates. Each takes milliseconds, so a lock held that long is
// stuck.
const lockTimeout = 10 * time.Second

// lockRetry is the interval between attempts to lock.
const lockRetry = 5 * time.Millisecond

// Update changes a file as ReplaceDurable does, under a lock across processes and goroutines.
// edit receives the content, nil if the file is missing, and returns the new content. If edit
// fails, Update returns its error and changes nothing. Content above limits.Size is not written.
// A missing folder is created for this user only.
//
// A symbolic link is followed for reading, and replaced by the file. Update waits for the lock at
// most ten seconds, and no longer than ctx.
func Update(ctx context.Context, path string, limits ReadLimits, edit func(old []byte) ([]byte, error)) error {
	if err := EnsureDir(path); err != nil {
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

// Lock waits until no other goroutine or process holds the lock of path, or ctx ends. The lock is
// a file with the suffix ".lock", which remains. The system releases the lock of a dead process.
func Lock(ctx context.Context, path string) (unlock func(), err error) {
	lock := flock.New(path+".lock", flock.SetFlag(os.O_CREATE|os.O_RDONLY|noFollow), flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, lockRetry); err != nil {
		return nil, fmt.Errorf("lock %s: %w", lock.Path(), err)
	}
	return func() { _ = lock.Unlock() }, nil // closing the file releases it too
}
