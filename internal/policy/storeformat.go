package policy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// maxStore is the maximum size of the plain file, in bytes.
const maxStore = 16 << 20

// storeVersion is the version of the format.
const storeVersion = 1

// storeFile is the format of the sealed record and of the plain file.
type storeFile struct {
	Version int     `json:"version"`
	Grants  []Grant `json:"grants"`
}

// lockTimeout is the wait for the lock of the plain file; changes take milliseconds.
const lockTimeout = 10 * time.Second

// encodeGrants encodes the grants for the sealed record.
func encodeGrants(grants []Grant) ([]byte, error) {
	return json.Marshal(storeFile{storeVersion, grants})
}

// indentGrants encodes the grants for the plain file.
func indentGrants(grants []Grant) ([]byte, error) {
	b, err := json.MarshalIndent(storeFile{storeVersion, grants}, "", "  ")
	return append(b, '\n'), err
}

// parseGrants decodes the whole content of a file or record, or returns an error.
func parseGrants(b []byte) ([]Grant, error) {
	var versioned struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(b, &versioned); err != nil {
		return nil, fmt.Errorf("it has no consents: %w", err)
	}
	if versioned.Version != storeVersion {
		return nil, fmt.Errorf("it has version %d of the format; this gateway knows version %d", versioned.Version, storeVersion)
	}
	var file storeFile
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		return nil, fmt.Errorf("it has no consents: %w", err)
	}
	for i, g := range file.Grants {
		if g.Decision != Allow && g.Decision != Deny {
			return nil, fmt.Errorf("grants[%d].decision is %q; expected %q or %q", i, g.Decision, Allow, Deny)
		}
	}
	return file.Grants, nil
}

// parsed returns the grants in the content. It parses the content only after a change.
func (s *GrantStore) parsed(b []byte) ([]Grant, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen == nil || !bytes.Equal(s.seen, b) {
		grants, err := parseGrants(b)
		if err != nil {
			return nil, err
		}
		s.seen, s.grants = b, grants
	}
	return s.grants, nil
}

func (s *GrantStore) parseSealed(b []byte) ([]Grant, error) {
	grants, err := s.parsed(b)
	if err != nil {
		return nil, fmt.Errorf("read the sealed record %q of the consents: %w", sealedID, err)
	}
	return slices.Clip(grants), nil
}

// plainGrants returns the grants in the plain file.
func (s *GrantStore) plainGrants() ([]Grant, error) {
	b, err := atomicfile.Read(s.path, atomicfile.ReadLimits{Size: maxStore})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var grants []Grant
	if err == nil {
		grants, err = s.parsed(b)
	}
	if err != nil {
		return nil, fmt.Errorf("read the consents in %s: %w", s.path, err)
	}
	return slices.Clip(grants), nil
}

// lockPlain locks the plain file and returns its grants.
func (s *GrantStore) lockPlain() (grants []Grant, unlock func(), err error) {
	ctx, cancel := context.WithTimeout(context.Background(), lockTimeout)
	defer cancel()
	if unlock, err = atomicfile.Lock(ctx, s.path); err != nil {
		return nil, func() {}, fmt.Errorf("seal the consents: %w", err)
	}
	if grants, err = s.plainGrants(); err != nil {
		unlock()
		return nil, func() {}, err
	}
	return grants, unlock, nil
}

// without returns the grants for which drop returns false, in a new slice.
func without(grants []Grant, drop func(Grant) bool) []Grant {
	return slices.DeleteFunc(slices.Clone(grants), drop)
}

func isRefusal(g Grant) bool { return g.Decision == Deny }

func isPermission(g Grant) bool { return !isRefusal(g) }

func refusalsOf(grants []Grant) []Grant { return without(grants, isPermission) }
