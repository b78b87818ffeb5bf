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

// A SavedChange records a [DescriptorChange] by the digests of both texts; "" for no file.
type SavedChange struct {
	App    string `json:"app"`
	Before string `json:"before,omitempty"`
	After  string `json:"after"`
}

// Record returns the record of the change of the app's descriptor, which [DescriptorStore.PlanUndo] reverts.
func (c DescriptorChange) Record(app string) SavedChange {
	return SavedChange{app, digestText(c.Before), digestText(c.After)}
}

func digestText(text []byte) string {
	if text == nil {
		return ""
	}
	s := sha256.Sum256(text)
	return hex.EncodeToString(s[:])
}

// PlanUndo returns the change that reverts a saved one. After is nil if there was no file. ok is
// false if the old text is in place already. The error, an *aai.Error, reports that the file has
// changed since, or that the backup is missing.
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
		e.Hint = "Compare it with its backup: " + BackupPath(c.Path) + "."
		return c, false, e
	}
	if saved.Before == "" {
		return c, true, nil
	}
	former, err := atomicfile.Read(BackupPath(c.Path), atomicfile.ReadLimits{Size: maxDescriptor})
	if err != nil || digestText(former) != saved.Before {
		return c, false, aai.Errorf(aai.AutomationFailed, "the backup %s was changed since", BackupPath(c.Path))
	}
	c.After = former
	return c, true, nil
}

// Undo carries out a change from PlanUndo if the file is unchanged. The error is an *aai.Error.
func (c DescriptorChange) Undo(ctx context.Context) error {
	if c.After != nil {
		return c.Save(ctx)
	}
	now, err := os.ReadFile(c.Path)
	if err != nil || !bytes.Equal(now, c.Before) {
		return NewReviewMismatchError(c.Path)
	}
	if err := atomicfile.ReplaceDurable(BackupPath(c.Path), now); err != nil {
		return aai.Errorf(aai.AutomationFailed, "the file cannot be kept: %w", err)
	}
	if err := os.Remove(c.Path); err != nil {
		return aai.Errorf(aai.AutomationFailed, "%s cannot be removed: %w", c.Path, err)
	}
	return nil
}
