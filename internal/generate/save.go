package generate

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

	"github.com/rogpeppe/go-internal/diff"

	"aai"
	"aai/internal/catalog"
	"aai/internal/wholefile"
)

// maxSaved is how large a descriptor may be that is there already.
const maxSaved = 1 << 20

// path is where the descriptor of an app is saved.
func (g *Generator) path(id string) string {
	return filepath.Join(g.cfg.Folder, id, catalog.FileName)
}

// before is the descriptor that is there, nil where none is.
func (g *Generator) before(id string) ([]byte, error) {
	if g.cfg.Folder == "" {
		return nil, nil
	}
	text, err := wholefile.Read(g.path(id), wholefile.Limits{Size: maxSaved})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, aai.Errorf(aai.AutomationFailed, "%s cannot be read: %w", g.path(id), err)
	}
	return text, nil
}

// seen names what a person was shown: the text that is there, and the one in its place.
func seen(before, after []byte) string {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%d\n%s%s", len(before), before, after) // which never fails
	return hex.EncodeToString(h.Sum(nil))
}

// difference is what saving would change, as a unified diff; empty for nothing.
func difference(path string, before, after []byte) string {
	from := path
	if before == nil {
		from = os.DevNull
	}
	text := diff.Diff(from, before, path, after)
	_, text, _ = bytes.Cut(text, []byte("\n")) // "diff a b"
	return string(text)
}

// save writes the text that a person has seen in the place of what they saw.
func (g *Generator) save(ctx context.Context, id string, text []byte, shown string) error {
	if g.cfg.Folder == "" {
		return aai.Errorf(aai.AutomationNotSupported, "there is no folder for descriptors")
	}
	err := wholefile.Update(ctx, g.path(id), wholefile.Limits{Size: maxSaved}, func(before []byte) ([]byte, error) {
		if seen(before, text) != shown {
			e := aai.Errorf(aai.AutomationFailed, "seen: what would be saved is not what was shown: the program says something else of itself by now, or somebody changed %s", g.path(id))
			e.Delivery, e.Hint = aai.NotDelivered, "Generate it again, and look at what it says now."
			return nil, e
		}
		return text, nil
	})
	if _, ours := errors.AsType[*aai.Error](err); err == nil || ours {
		return err
	}
	return aai.Errorf(aai.AutomationFailed, "%s cannot be written: %w", g.path(id), err)
}
