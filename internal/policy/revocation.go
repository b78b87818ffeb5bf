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

// Revocations tell running gateways that a person took something back: what was
// allowed for a session before that does not hold any more, in none of them. They
// are a file with a word in it that is never the same twice. Safe for concurrent
// use, by several gateways too.
type Revocations struct{ path string }

// NewRevocations returns those in the file at path, which need not exist.
func NewRevocations(path string) *Revocations { return &Revocations{path} }

// Revoke ends what was allowed for sessions so far.
func (r *Revocations) Revoke() error {
	if err := os.MkdirAll(filepath.Dir(r.path), 0o700); err != nil {
		return fmt.Errorf("make the folder of the revocations: %w", err)
	}
	if err := atomicfile.ReplaceDurable(r.path, []byte(rand.Text())); err != nil {
		return fmt.Errorf("note the revocation: %w", err)
	}
	return nil
}

// latest returns the word of the latest revocation, "" before the first.
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
