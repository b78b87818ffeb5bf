// Package reauth stores the passphrase by which a person proves their presence if no
// dialog can be shown, and the settings that the person has confirmed.
//
// An installation has one passphrase, derived with scrypt. Attempts are counted before
// they are checked: each failure makes the wait longer, in this process and in all others.
// The typed text is never stored.
//
// A confirmed setting is stored as the digest of its value, under its source and key. It
// counts only if it is sealed, because any program may have written a plain file.
//
// The package uses the given vault and one file beside it. It imports the root package and
// internal/files/atomicfile.
package reauth

import (
	"context"
	"errors"
	"io/fs"

	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// A RecordStore keeps sealed records, such as internal/secrets's Vault. Its methods are
// safe for concurrent use, also by several processes. An error that wraps
// errors.ErrUnsupported means that this computer cannot seal anything.
type RecordStore interface {
	// Get returns a record, or nil if it is absent.
	Get(ctx context.Context, id string) ([]byte, error)
	// Update changes a record, completely or not at all. edit gets the current record, or
	// nil, and returns the new one.
	Update(ctx context.Context, id string, edit func(old []byte) ([]byte, error)) error
	// CheckSealing returns an error if sealing is not possible now.
	CheckSealing(ctx context.Context) error
}

func isUnsealable(err error) bool { return errors.Is(err, errors.ErrUnsupported) }

// maxFile bounds the size of a plain file, in bytes.
const maxFile = 1 << 12

// A plainFile is a record in a file that only its owner may read.
type plainFile string

func (p plainFile) get() ([]byte, error) {
	b, err := atomicfile.Read(string(p), atomicfile.ReadLimits{Size: maxFile})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

func (p plainFile) update(ctx context.Context, edit func(old []byte) ([]byte, error)) error {
	return atomicfile.Update(ctx, string(p), atomicfile.ReadLimits{Size: maxFile}, edit)
}
