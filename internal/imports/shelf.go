package imports

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

	"aai"
	"aai/internal/catalog"
	"aai/internal/lint"
	"aai/internal/wholefile"
)

// Limits on what is read of a descriptor that is there, and shown of a difference.
const (
	maxSaved = 8 << 20
	maxDiff  = 1500 // lines
	maxLine  = 400  // bytes
	maxTold  = 60   // changes
)

// plan says what saving a descriptor would change: in the lines of an outline, or in those of
// the file where that is wanted or nothing else differs.
func (r *Room) plan(doc *catalog.Document, written []byte, full bool) (*change, error) {
	c := &change{App: doc.ID, Name: doc.Name, Path: filepath.Join(r.cfg.Folder, doc.ID, catalog.FileName), text: written}
	if len(doc.Sections) > 0 {
		c.Tools = len(doc.Sections[0].Tools)
	}
	before, err := wholefile.Read(c.Path, wholefile.Limits{Size: maxSaved})
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		e := aai.Errorf(aai.AutomationFailed, "%s cannot be read: %w", c.Path, err)
		e.Hint = "Look at what is there, and move it away; or import under another id: --id."
		return nil, e
	default:
		c.before = before
	}
	if c.Same = bytes.Equal(before, written); c.Same {
		return c, nil
	}
	var was []byte
	if c.before != nil {
		was = c.compare(doc)
	}
	now := outline(doc)
	if full || bytes.Equal(was, now) {
		was, now = c.before, written
	}
	c.Diff, c.DiffOmitted = difference(c.Path, was, now)
	return c, nil
}

// compare says what the change is for agents, and whose file it would replace. It returns the
// outline of that.
func (c *change) compare(doc *catalog.Document) (was []byte) {
	old, err := catalog.Parse(c.before, catalog.Options{})
	switch {
	case err != nil:
		c.Notes = append(c.Notes, c.Path+" holds a descriptor that cannot be read; it would be replaced")
		return nil
	case old.Document.Generated == nil:
		c.Notes = append(c.Notes, c.Path+" was written by hand; it would be replaced")
	case doc.Generated != nil && old.Document.Generated.From != doc.Generated.From:
		c.Notes = append(c.Notes, c.Path+" was made of "+aai.CleanLabel(old.Document.Generated.From, maxLine)+"; it would be replaced")
	}
	compared, err := lint.Compare(c.before, c.text, catalog.Options{})
	if err != nil {
		return outline(old.Document) // its version does not count
	}
	for i, one := range compared.Changes {
		if i == maxTold {
			c.Changes = append(c.Changes, fmt.Sprintf("and %d more", len(compared.Changes)-maxTold))
			break
		}
		c.Changes = append(c.Changes, strings.TrimSpace(aai.CleanLabel(one.Path+" "+one.Problem, maxLine)))
	}
	return outline(old.Document)
}

// difference is a unified diff, and how many of its lines are left out.
func difference(path string, before, after []byte) (shown string, omitted int) {
	from := path
	if before == nil {
		from = os.DevNull
	}
	whole := diff.Diff(from, before, path, after)
	_, whole, _ = bytes.Cut(whole, []byte("\n")) // "diff a b"
	var b strings.Builder
	n := 0
	for line := range strings.Lines(string(whole)) {
		if n++; n > maxDiff {
			omitted++
			continue
		}
		line = strings.TrimSuffix(line, "\n")
		b.WriteString(aai.CleanText(line, maxLine) + "\n")
	}
	return b.String(), omitted
}

// seen names what a person was shown: the texts that are there, and those in their place.
func seen(changes ...*change) string {
	h := sha256.New()
	for _, c := range changes {
		_, _ = fmt.Fprintf(h, "%q %d %d\n%s%s", c.Path, len(c.before), len(c.text), c.before, c.text) // which never fails
	}
	return hex.EncodeToString(h.Sum(nil))
}

// unseen is the error of something else than what was shown.
func unseen(what string) error {
	e := aai.Errorf(aai.AutomationFailed, "seen: what would be saved is not what was shown: %s changed by now", what)
	e.Delivery, e.Hint = aai.NotDelivered, "Import it again, and look at what it says now."
	return e
}

// save writes a descriptor that a person has seen in the place of what they saw.
func (r *Room) save(ctx context.Context, c *change) error {
	if err := os.MkdirAll(filepath.Dir(c.Path), 0o700); err != nil {
		return aai.Errorf(aai.AutomationFailed, "%s cannot be made: %w", filepath.Dir(c.Path), err)
	}
	err := wholefile.Update(ctx, c.Path, wholefile.Limits{Size: maxSaved}, func(before []byte) ([]byte, error) {
		if !bytes.Equal(before, c.before) {
			return nil, unseen(c.Path)
		}
		return c.text, nil
	})
	if _, ours := errors.AsType[*aai.Error](err); err == nil || ours {
		return err
	}
	return aai.Errorf(aai.AutomationFailed, "%s cannot be written: %w", c.Path, err)
}
