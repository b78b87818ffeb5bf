// Package ownpage says at which addresses gateways of the person show their own page now. Who
// serves one says so; who operates windows asks, and leaves alone what shows it. Whether a
// gateway still runs a lock of its file tells, which ends with it.
package web

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
)

// addressSuffix is that of the files.
const addressSuffix = ".page"

// maxHostBytes is how long a host may be, in bytes.
const maxHostBytes = 300

// AnnounceDashboard says in the folder, which is made if need be, that a page is shown at a host, with
// its port, until end is called or the process ends.
func AnnounceDashboard(folder, host string) (end func(), err error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	for range maxFileTries {
		name := make([]byte, 8)
		_, _ = rand.Read(name) // never fails (crypto/rand)
		path := filepath.Join(folder, hex.EncodeToString(name)+addressSuffix)
		lock, err := lockFile(path)
		if err != nil {
			return nil, err
		}
		if lock == nil {
			continue
		}
		if err := os.WriteFile(path, []byte(host), 0o600); err != nil {
			return nil, errors.Join(err, lock.Unlock())
		}
		return func() {
			_ = os.Remove(path) // one that stays says nothing without its lock
			_ = lock.Unlock()
		}, nil
	}
	return nil, errors.New("the file of the page cannot be locked, since others take it away")
}

// maxFileTries is how often a file is made. Only one that is looked at just then is taken away.
const maxFileTries = 100

// lockFile makes a file and locks it; nil where somebody who looked before it was locked took it
// for one whose gateway has ended.
func lockFile(path string) (*flock.Flock, error) {
	lock := flock.New(path, flock.SetPermissions(0o600))
	locked, err := lock.TryLock()
	if err != nil {
		return nil, errors.Join(errors.New("the file of the page cannot be locked"), err)
	}
	if locked {
		held, err := lock.Stat()
		there, errThere := os.Stat(path)
		if err == nil && errThere == nil && os.SameFile(held, there) {
			return lock, nil
		}
	}
	return nil, lock.Unlock()
}

// DashboardHosts are those that were announced in the folder and are shown now. Without a folder there
// are none; what cannot be read is an error.
func DashboardHosts(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var hosts []string
	for _, entry := range entries {
		path := filepath.Join(folder, entry.Name())
		if !strings.HasSuffix(path, addressSuffix) || !entry.Type().IsRegular() {
			continue
		}
		lock := flock.New(path, flock.SetFlag(os.O_RDONLY))
		over, err := lock.TryRLock()
		if over {
			_ = os.Remove(path) // whose it was has ended
			_ = lock.Unlock()
			continue
		}
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		b, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if host := string(b); host != "" && len(host) <= maxHostBytes {
			hosts = append(hosts, strings.ToLower(host))
		}
	}
	return hosts, nil
}
