package inputlock

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/windows"

	"github.com/gybob/aai-gateway"
)

// Claims marks the programs that the person's gateways act on. It is a file with one byte per process; the gateway that acts on a
// process locks its byte. The system releases the locks of a process that ends.
type Claims struct {
	// Folder is the folder that the person's gateways share; see [Folder].
	Folder func() (string, error)
}

// Claim implements gateway.Claims.
func (c Claims) Claim(ctx context.Context, process int) (leave func(), waited bool, err error) {
	for wait := minRetryPause; ; wait, waited = min(2*wait, maxRetryPause), true {
		held, err := c.tryLock(process)
		if err != nil {
			e := aai.Errorf(aai.AutomationFailed, "the person's gateways cannot share access to a program: %w", err)
			e.Delivery, e.Hint = aai.NotDelivered, "Make sure that the folder is writable and yours only."
			return nil, waited, e
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
	file, err := os.OpenFile(filepath.Join(folder, "claims"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	at := windows.Overlapped{Offset: uint32(process)}
	err = windows.LockFileEx(windows.Handle(file.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
	if err == nil {
		return file, nil
	}
	_ = file.Close()
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		err = nil
	}
	return nil, err
}

// Folder returns the folder that all gateways of this account share: in the account's local data, whatever the environment says.
func Folder() (string, error) {
	folder, err := windows.KnownFolderPath(windows.FOLDERID_LocalAppData, 0)
	return filepath.Join(folder, "aai-gateway", "seat"), err
}
