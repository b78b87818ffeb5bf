package inputlock

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/gybob/aai-gateway"
)

// Claims marks the programs that the person's gateways act on. It is a file with one byte per
// process; the gateway that acts on a process locks its byte. The system releases the locks of a
// process that ends.
type Claims struct {
	// Folder is the folder that the person's gateways share; see [Folder].
	Folder func() (string, error)
}

// Claim implements [gateway.Claims].
func (c Claims) Claim(ctx context.Context, process int) (leave func(), waited bool, err error) {
	for wait := minRetryPause; ; wait, waited = min(2*wait, maxRetryPause), true {
		held, err := c.tryLock(process)
		if err != nil {
			return nil, waited, noClaimError(err)
		}
		if held != nil {
			return sync.OnceFunc(func() { _ = held.Close() }), waited, nil
		}
		if err := aai.Sleep(ctx, wait); err != nil {
			return nil, true, err
		}
	}
}

// tryLock takes the lock, which ends when the file is closed; nil if another gateway has it.
func (c Claims) tryLock(process int) (*os.File, error) {
	folder, err := c.Folder()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(folder, "claims")
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	err = unix.FcntlFlock(file.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_WRLCK, Start: int64(process), Len: 1})
	if err == nil && stays(file, path) {
		return file, nil
	}
	_ = file.Close()
	if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.EINTR) {
		err = nil
	}
	return nil, err
}

// noClaimError returns the error for a claim that failed.
func noClaimError(err error) error {
	e := aai.Errorf(aai.AutomationFailed, "the person's gateways cannot share access to a program: %w", err)
	e.Delivery = aai.NotDelivered
	e.Hint = "Make sure that the folder is writable and yours only."
	return e
}
