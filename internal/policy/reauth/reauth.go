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
package reauth

import (
	"context"
	"errors"
	"io/fs"

	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// RecordStore keep what is sealed, such as internal/secrets's Vault. Their methods are safe
// for concurrent use, also by several processes. An error whose chain has
// errors.ErrUnsupported says that nothing can be sealed on this computer.
type RecordStore interface {
	// Get returns a record, nil if it is absent.
	Get(ctx context.Context, id string) ([]byte, error)
	// Update changes a record: edit gets what there is, nil for nothing, and returns
	// what shall be. It changes all or nothing.
	Update(ctx context.Context, id string, edit func(old []byte) ([]byte, error)) error
	// CheckSealing says why nothing can be sealed now; nil where it can.
	CheckSealing(ctx context.Context) error
}

func isUnsealable(err error) bool { return errors.Is(err, errors.ErrUnsupported) }

// maxFile bounds what is read of a plain file.
const maxFile = 1 << 12

// A plain is a record in a file that only its owner may read.
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
