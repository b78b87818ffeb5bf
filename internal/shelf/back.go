package shelf

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"

	"aai"
	"aai/internal/wholefile"
)

// A Saved is a change that was made, by the sums of both texts; that of nothing is empty.
type Saved struct {
	App    string `json:"app"`
	Before string `json:"before,omitempty"`
	After  string `json:"after"`
}

// Saved names the change of an app, once it is made.
func (c Change) Saved(app string) Saved { return Saved{app, sum(c.Before), sum(c.After)} }

func sum(text []byte) string {
	if text == nil {
		return ""
	}
	s := sha256.Sum256(text)
	return hex.EncodeToString(s[:])
}

// Back is the change that takes a saved one back: After is nil where nothing was there. It is
// none, and ok false, where what was there lies there still or again. The error, an *aai.Error,
// says that somebody has changed it since, or that what was there is not kept any more.
func (s Shelf) Back(saved Saved) (c Change, ok bool, err error) {
	if filepath.Base(saved.App) != saved.App {
		return Change{}, false, aai.Errorf(aai.InvalidParams, "%s is no app's id", aai.CleanLabel(saved.App, 100))
	}
	now, err := s.Read(saved.App)
	if err != nil {
		return Change{}, false, err
	}
	c = Change{Path: s.At(saved.App), Before: now}
	switch sum(now) {
	case saved.Before:
		return c, false, nil
	case saved.After:
	default:
		e := aai.Errorf(aai.AutomationFailed, "%s was changed since", c.Path)
		e.Hint = "Look at it, and at what it was: " + Former(c.Path) + "."
		return c, false, e
	}
	if saved.Before == "" {
		return c, true, nil
	}
	former, err := wholefile.Read(Former(c.Path), wholefile.Limits{Size: maxSaved})
	if err != nil || sum(former) != saved.Before {
		return c, false, aai.Errorf(aai.AutomationFailed, "%s is not what was replaced any more", Former(c.Path))
	}
	c.After = former
	return c, true, nil
}

// Undo does what Back has planned, where nothing has changed since. The error is an *aai.Error.
func (c Change) Undo(ctx context.Context) error {
	if c.After != nil {
		return c.Save(ctx)
	}
	now, err := os.ReadFile(c.Path)
	if err != nil || !bytes.Equal(now, c.Before) {
		return Unseen(c.Path)
	}
	if err := wholefile.Keep(Former(c.Path), now); err != nil {
		return aai.Errorf(aai.AutomationFailed, "what is there cannot be kept: %w", err)
	}
	if err := os.Remove(c.Path); err != nil {
		return aai.Errorf(aai.AutomationFailed, "%s cannot be removed: %w", c.Path, err)
	}
	return nil
}
