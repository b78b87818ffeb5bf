package policy

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// Revocations tell running gateways that a person revoked a permission: session grants
// from before are then invalid in all of them. The file contains a random word that
// changes with each revocation. Revocations are safe for concurrent use, also by several
// gateways.
type Revocations struct{ path string }

// NewRevocations returns the revocations in the file at path, which need not exist.
func NewRevocations(path string) *Revocations { return &Revocations{path} }

// Revoke ends all session grants so far.
func (r *Revocations) Revoke() error {
	if err := os.MkdirAll(filepath.Dir(r.path), 0o700); err != nil {
		return fmt.Errorf("make the folder of the revocations: %w", err)
	}
	if err := atomicfile.ReplaceDurable(r.path, []byte(rand.Text())); err != nil {
		return fmt.Errorf("record the revocation: %w", err)
	}
	return nil
}

// latest returns the word of the latest revocation, or "" before the first.
func (r *Revocations) latest() (string, error) {
	if r == nil {
		return "", nil
	}
	b, err := os.ReadFile(r.path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return string(b), err
}
