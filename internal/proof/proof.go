// Package proof keeps by what a person proves that it is they who want something of
// the gateway, where no window can ask them, and which settings they have confirmed.
//
// There is one passphrase for an installation. It is stretched by scrypt, and tries are
// counted before they are looked at: whoever tries waits longer each time, in this
// process and in all others. What was typed is kept nowhere.
//
// A confirmed setting is kept as the digest of its value, by the name of where it
// stands and its own. It counts only where it is sealed: what lies in a plain file may
// have been put there.
//
// The package touches the vault that it is given, and one file beside it. It imports
// the root package and the writer of whole files.
package proof

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"aai/internal/wholefile"
)

// Records keep what is sealed, such as internal/keychain's Vault. Their methods are safe
// for concurrent use, also by several processes. An error whose chain has
// errors.ErrUnsupported says that nothing can be sealed on this computer.
type Records interface {
	// Get returns a record, nil if it is absent.
	Get(ctx context.Context, id string) ([]byte, error)
	// Update changes a record: edit gets what there is, nil for nothing, and returns
	// what shall be. It changes all or nothing.
	Update(ctx context.Context, id string, edit func(old []byte) ([]byte, error)) error
	// Seals says why nothing can be sealed now; nil where it can.
	Seals(ctx context.Context) error
}

func unsealable(err error) bool { return errors.Is(err, errors.ErrUnsupported) }

// maxFile bounds what is read of a plain file.
const maxFile = 1 << 12

// A plain is a record in a file that only its owner may read.
type plain string

func (p plain) get() ([]byte, error) {
	f, err := os.Open(string(p))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	return io.ReadAll(io.LimitReader(f, maxFile))
}

func (p plain) update(ctx context.Context, edit func(old []byte) ([]byte, error)) error {
	if err := os.MkdirAll(filepath.Dir(string(p)), 0o700); err != nil {
		return err
	}
	lock := flock.New(string(p)+".lock", flock.SetPermissions(0o600))
	ctx, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	if _, err := lock.TryLockContext(ctx, lockRetry); err != nil {
		return fmt.Errorf("lock %s: %w", p, err)
	}
	defer lock.Unlock() //nolint:errcheck // closing the file releases it too
	old, err := p.get()
	if err != nil {
		return err
	}
	now, err := edit(old)
	if err != nil {
		return err
	}
	return wholefile.Keep(string(p), now)
}

// A change takes milliseconds. Whoever holds the lock for so long is stuck.
const (
	lockPatience = 10 * time.Second
	lockRetry    = 5 * time.Millisecond
)
