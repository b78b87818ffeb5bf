// Package shelf is the folder where a person keeps descriptors: what lies there, what saving
// one would change, and how it is saved as it was shown and not otherwise. What a descriptor
// says, and whether its person wants it, others know.
package importers

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// Limits on what is read of a descriptor that is there, and shown of a difference.
const (
	maxDescriptor = 8 << 20
	maxDiffLines  = 1500 // lines
	maxDiffLine   = 400  // bytes
)

// A Shelf is the folder, by an absolute path. The empty one is none: nothing lies there, and
// nothing can be saved.
type DescriptorStore string

// Path is where the descriptor of an app lies, "" without a folder.
func (s DescriptorStore) Path(id string) string {
	if s == "" {
		return ""
	}
	return filepath.Join(string(s), id, catalog.FileName)
}

// Read is the descriptor that lies there, nil where none does. The error is an *aai.Error.
func (s DescriptorStore) Read(id string) ([]byte, error) {
	if s == "" {
		return nil, nil
	}
	text, err := atomicfile.Read(s.Path(id), atomicfile.ReadLimits{Size: maxDescriptor})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		e := aai.Errorf(aai.AutomationFailed, "%s cannot be read: %w", s.Path(id), err)
		e.Hint = "Look at what is there, and move it away."
		return nil, e
	}
	return text, nil
}

// A Change is a text in the place of what lies there.
type DescriptorChange struct {
	Path   string
	Before []byte // nil: nothing
	After  []byte
}

// Plan is the change that saving the text would be. The error is an *aai.Error.
func (s DescriptorStore) Plan(id string, text []byte) (DescriptorChange, error) {
	before, err := s.Read(id)
	return DescriptorChange{Path: s.Path(id), Before: before, After: text}, err
}

// IsUnchanged reports whether the text lies there already.
func (c DescriptorChange) IsUnchanged() bool {
	return c.Before != nil && bytes.Equal(c.Before, c.After)
}

// Diff is the change as a unified diff, and how many of its lines are left out. Its lines are
// harmless to a terminal.
func (c DescriptorChange) Diff() (shown string, omitted int) {
	from := c.Path
	if c.Before == nil {
		from = os.DevNull
	}
	whole := diff.Diff(from, c.Before, c.Path, c.After)
	_, whole, _ = bytes.Cut(whole, []byte("\n")) // "diff a b"
	var b strings.Builder
	n := 0
	for line := range strings.Lines(string(whole)) {
		if n++; n > maxDiffLines {
			omitted++
			continue
		}
		b.WriteString(aai.CleanText(strings.TrimSuffix(line, "\n"), maxDiffLine) + "\n")
	}
	return b.String(), omitted
}

// ReviewDigest names what a person was shown: the texts that lie there, and those in their place.
func ReviewDigest(changes ...DescriptorChange) string {
	h := sha256.New()
	for _, c := range changes {
		_, _ = fmt.Fprintf(h, "%q %d %d\n%s%s", c.Path, len(c.Before), len(c.After), c.Before, c.After) // which never fails
	}
	return hex.EncodeToString(h.Sum(nil))
}

// NewReviewMismatchError is the error of something else than what was shown.
func NewReviewMismatchError(what string) *aai.Error {
	e := aai.Errorf(aai.AutomationFailed, "seen: what would be saved is not what was shown: %s changed by now", what)
	e.Delivery, e.Hint = aai.NotDelivered, "Look at it again, and save what it says now."
	return e
}

// BackupPath is the file beside a descriptor in which the one that it replaced is kept.
func BackupPath(path string) string { return path + ".before" }

// Save writes the text that a person has seen in the place of what they saw, which is kept
// beside it ([BackupPath]). The error is an *aai.Error; what lies there stays then.
func (c DescriptorChange) Save(ctx context.Context) error {
	if c.Path == "" {
		return aai.Errorf(aai.AutomationNotSupported, "there is no folder for descriptors")
	}
	if err := os.MkdirAll(filepath.Dir(c.Path), 0o700); err != nil {
		return aai.Errorf(aai.AutomationFailed, "%s cannot be made: %w", filepath.Dir(c.Path), err)
	}
	err := atomicfile.Update(ctx, c.Path, atomicfile.ReadLimits{Size: maxDescriptor}, func(before []byte) ([]byte, error) {
		if !bytes.Equal(before, c.Before) {
			return nil, NewReviewMismatchError(c.Path)
		}
		if before != nil && !c.IsUnchanged() {
			if err := atomicfile.ReplaceDurable(BackupPath(c.Path), before); err != nil {
				return nil, fmt.Errorf("what was there cannot be kept: %w", err)
			}
		}
		return c.After, nil
	})
	if _, ours := errors.AsType[*aai.Error](err); err == nil || ours {
		return err
	}
	return aai.Errorf(aai.AutomationFailed, "%s cannot be written: %w", c.Path, err)
}
