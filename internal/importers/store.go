package importers

import (
	"bytes"
	"context"
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

// Limits on an existing descriptor, and on a displayed diff.
const (
	maxDescriptor = 8 << 20
	maxDiffLines  = 1500 // lines
	maxDiffLine   = 400  // bytes
)

// DescriptorStore is the absolute path of the descriptor folder. The empty store has no
// descriptors, and cannot save.
type DescriptorStore string

// Path returns the path of an app's descriptor, or "" without a folder.
func (s DescriptorStore) Path(id string) string {
	if s == "" {
		return ""
	}
	return filepath.Join(string(s), id, catalog.FileName)
}

// Read returns an app's descriptor, or nil if there is none. The error is an *aai.Error.
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
		e.Hint = "Look at that file, and move it away."
		return nil, e
	}
	return text, nil
}

// A DescriptorChange is a planned change of a descriptor's text. Only Save writes it.
type DescriptorChange struct {
	Path   string
	Before []byte // nil: no file
	After  []byte // nil: the file is removed
}

// Plan returns the change that saving the text as the app's descriptor would make. The error is an *aai.Error.
func (s DescriptorStore) Plan(id string, text []byte) (DescriptorChange, error) {
	before, err := s.Read(id)
	return DescriptorChange{Path: s.Path(id), Before: before, After: text}, err
}

// IsUnchanged reports whether the file already had the text when the change was planned.
func (c DescriptorChange) IsUnchanged() bool {
	return (c.Before == nil) == (c.After == nil) && bytes.Equal(c.Before, c.After)
}

// Diff returns a unified diff of the change that is safe for a terminal, and the number of omitted lines: none if
// full is set.
func (c DescriptorChange) Diff(full bool) (shown string, omitted int) {
	from := c.Path
	if c.Before == nil {
		from = os.DevNull
	}
	whole := diff.Diff(from, c.Before, c.Path, c.After)
	_, whole, _ = bytes.Cut(whole, []byte("\n")) // "diff a b"
	var b strings.Builder
	n := 0
	for line := range strings.Lines(string(whole)) {
		if n++; n > maxDiffLines && !full {
			omitted++
			continue
		}
		b.WriteString(aai.CleanText(strings.TrimSuffix(line, "\n"), maxDiffLine) + "\n")
	}
	return b.String(), omitted
}

// BackupPath returns the path of the backup beside a descriptor.
func BackupPath(path string) string { return path + ".before" }

// Save writes or removes the file, and keeps the old text in [BackupPath]. It fails if the file has
// changed since the review. The error is an *aai.Error; the file is then unchanged.
func (c DescriptorChange) Save(ctx context.Context) error {
	switch {
	case c.IsUnchanged():
		return nil
	case c.Path == "":
		return aai.Errorf(aai.AutomationNotSupported, "there is no folder for descriptors")
	case c.After == nil:
		return c.remove()
	}
	if err := os.MkdirAll(filepath.Dir(c.Path), 0o700); err != nil {
		return aai.Errorf(aai.AutomationFailed, "%s cannot be made: %w", filepath.Dir(c.Path), err)
	}
	err := atomicfile.Update(ctx, c.Path, atomicfile.ReadLimits{Size: maxDescriptor}, func(before []byte) ([]byte, error) {
		if !bytes.Equal(before, c.Before) {
			return nil, newReviewMismatchError(c.Path)
		}
		if before != nil {
			if err := atomicfile.ReplaceDurable(BackupPath(c.Path), before); err != nil {
				return nil, fmt.Errorf("the old file cannot be kept: %w", err)
			}
		}
		return c.After, nil
	})
	if _, ours := errors.AsType[*aai.Error](err); err == nil || ours {
		return err
	}
	return aai.Errorf(aai.AutomationFailed, "%s cannot be written: %w", c.Path, err)
}
