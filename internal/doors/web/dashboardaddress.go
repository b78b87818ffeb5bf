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

// addressSuffix is the suffix of the files that announce dashboards.
const addressSuffix = ".page"

// maxHostBytes limits the length of a host, in bytes.
const maxHostBytes = 300

// AnnounceDashboard announces by a file in the folder that this process serves a dashboard at host,
// a name with a port. The announcement ends when end is called or the process ends, since the file
// is locked until then. Gateways that operate windows read these files with [DashboardHosts], and do
// not operate windows with a dashboard. AnnounceDashboard creates the folder if necessary.
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
			_ = os.Remove(path) // without its lock a remaining file is ignored
			_ = lock.Unlock()
		}, nil
	}
	return nil, errors.New("the file of the page cannot be locked, since others take it away")
}

// maxFileTries limits the attempts to create the file. An attempt fails if another process
// reads the file before it is locked, and removes it.
const maxFileTries = 100

// lockFile creates a file and locks it. It returns nil if another process took the file for
// a stale one and removed it before it was locked.
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

// DashboardHosts returns the hosts, with ports, that running processes announced in the folder by
// [AnnounceDashboard]. Without the folder there are none; an unreadable file is an error.
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
			_ = os.Remove(path) // its gateway has ended
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
