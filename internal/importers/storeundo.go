package importers

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// A Saved is a change that was made, by the sums of both texts; that of nothing is empty.
type SavedChange struct {
	App    string `json:"app"`
	Before string `json:"before,omitempty"`
	After  string `json:"after"`
}

// SavedAs names the change of an app, once it is made.
func (c DescriptorChange) SavedAs(app string) SavedChange {
	return SavedChange{app, digestText(c.Before), digestText(c.After)}
}

func digestText(text []byte) string {
	if text == nil {
		return ""
	}
	s := sha256.Sum256(text)
	return hex.EncodeToString(s[:])
}

// PlanUndo is the change that takes a saved one back: After is nil where nothing was there. It is
// none, and ok false, where what was there lies there still or again. The error, an *aai.Error,
// says that somebody has changed it since, or that what was there is not kept any more.
func (s DescriptorStore) PlanUndo(saved SavedChange) (c DescriptorChange, ok bool, err error) {
	if filepath.Base(saved.App) != saved.App {
		return DescriptorChange{}, false, aai.Errorf(aai.InvalidParams, "%s is no app's id", aai.CleanLabel(saved.App, 100))
	}
	now, err := s.Read(saved.App)
	if err != nil {
		return DescriptorChange{}, false, err
	}
	c = DescriptorChange{Path: s.Path(saved.App), Before: now}
	switch digestText(now) {
	case saved.Before:
		return c, false, nil
	case saved.After:
	default:
		e := aai.Errorf(aai.AutomationFailed, "%s was changed since", c.Path)
		e.Hint = "Look at it, and at what it was: " + BackupPath(c.Path) + "."
		return c, false, e
	}
	if saved.Before == "" {
		return c, true, nil
	}
	former, err := atomicfile.Read(BackupPath(c.Path), atomicfile.ReadLimits{Size: maxDescriptor})
	if err != nil || digestText(former) != saved.Before {
		return c, false, aai.Errorf(aai.AutomationFailed, "%s is not what was replaced any more", BackupPath(c.Path))
	}
	c.After = former
	return c, true, nil
}

// Undo does what Back has planned, where nothing has changed since. The error is an *aai.Error.
func (c DescriptorChange) Undo(ctx context.Context) error {
	if c.After != nil {
		return c.Save(ctx)
	}
	now, err := os.ReadFile(c.Path)
	if err != nil || !bytes.Equal(now, c.Before) {
		return NewReviewMismatchError(c.Path)
	}
	if err := atomicfile.ReplaceDurable(BackupPath(c.Path), now); err != nil {
		return aai.Errorf(aai.AutomationFailed, "what is there cannot be kept: %w", err)
	}
	if err := os.Remove(c.Path); err != nil {
		return aai.Errorf(aai.AutomationFailed, "%s cannot be removed: %w", c.Path, err)
	}
	return nil
}
