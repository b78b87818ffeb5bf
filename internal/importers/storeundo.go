package importers

import (
	"bytes"
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

// PlanUndo returns the change that reverts a saved one. It changes nothing if the old text is in
// place already. The error, an *aai.Error, reports that the file has changed since, or that the
// backup is missing.
func (s DescriptorStore) PlanUndo(saved SavedChange) (DescriptorChange, error) {
	if filepath.Base(saved.App) != saved.App {
		return DescriptorChange{}, aai.Errorf(aai.InvalidParams, "%s is no app's id", aai.CleanLabel(saved.App, 100))
	}
	now, err := s.Read(saved.App)
	if err != nil {
		return DescriptorChange{}, err
	}
	c := DescriptorChange{Path: s.Path(saved.App), Before: now}
	switch digestText(now) {
	case saved.Before:
		c.After = now
		return c, nil
	case saved.After:
	default:
		e := aai.Errorf(aai.AutomationFailed, "%s was changed since", c.Path)
		e.Hint = "Compare it with its backup: " + BackupPath(c.Path) + "."
		return c, e
	}
	if saved.Before == "" {
		return c, nil
	}
	former, err := atomicfile.Read(BackupPath(c.Path), atomicfile.ReadLimits{Size: maxDescriptor})
	if err != nil || digestText(former) != saved.Before {
		return c, aai.Errorf(aai.AutomationFailed, "the backup %s was changed since", BackupPath(c.Path))
	}
	c.After = former
	return c, nil
}

// remove removes the file.
func (c DescriptorChange) remove() error {
	now, err := os.ReadFile(c.Path)
	if err != nil || !bytes.Equal(now, c.Before) {
		return newReviewMismatchError(c.Path)
	}
	if err := atomicfile.ReplaceDurable(BackupPath(c.Path), now); err != nil {
		return aai.Errorf(aai.AutomationFailed, "the file cannot be kept: %w", err)
	}
	if err := os.Remove(c.Path); err != nil {
		return aai.Errorf(aai.AutomationFailed, "%s cannot be removed: %w", c.Path, err)
	}
	return nil
}
