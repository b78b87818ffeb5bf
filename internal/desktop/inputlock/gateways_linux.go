package inputlock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
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

// Folder returns the folder that all gateways of this account share. It is in /run/user/<uid>,
// regardless of the environment, or else in /tmp, where X server sockets are too. Folder creates
// the one in /tmp if needed, and returns an error if it belongs to another account or is accessible
// to others.
func Folder() (string, error) {
	uid := os.Getuid()
	login := filepath.Join("/run/user", strconv.Itoa(uid))
	if private(login, uid) == nil {
		return filepath.Join(login, "aai-gateway", "seat"), nil
	}
	folder := filepath.Join("/tmp", "aai-gateway-"+strconv.Itoa(uid))
	if err := os.Mkdir(folder, 0o700); err != nil && !os.IsExist(err) {
		return "", err
	}
	if err := private(folder, uid); err != nil {
		return "", err
	}
	return filepath.Join(folder, "seat"), nil
}

// private returns an error unless folder is a directory that only the account may use.
func private(folder string, uid int) error {
	info, err := os.Lstat(folder)
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok || !info.IsDir():
		return fmt.Errorf("%s is not a folder", folder)
	case int(stat.Uid) != uid:
		return fmt.Errorf("%s belongs to account %d, expected %d", folder, stat.Uid, uid)
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("%s may be used by other accounts (%s), expected drwx------", folder, info.Mode())
	}
	return nil
}
