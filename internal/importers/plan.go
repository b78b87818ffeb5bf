package importers

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/catalog/lint"
)

// Limits on the report of a change.
const (
	maxSummaryLine     = 400 // bytes
	maxReportedChanges = 60  // changes
	maxReviewNotes     = 10
)

// A plannedApp is the planned change of one descriptor, and its preview.
type plannedApp struct {
	change DescriptorChange
	answer.DraftedApp
}

// plan returns the change that saving a descriptor would make. The diff is of the summary, or of
// the file if full is set or only the file differs.
func (r *Importer) plan(doc *catalog.Document, written []byte, full bool) (*plannedApp, error) {
	planned, err := DescriptorStore(r.cfg.Folder).Plan(doc.ID, written)
	if err != nil {
		return nil, err
	}
	c := &plannedApp{planned, answer.DraftedApp{App: doc.ID, Name: doc.Name, Path: planned.Path, Same: planned.IsUnchanged()}}
	if len(doc.Sections) > 0 {
		c.Tools = len(doc.Sections[0].Tools)
	}
	if c.Same {
		return c, nil
	}
	c.Notes = append(c.Notes, reviewNotes(written)...)
	shown := DescriptorChange{Path: planned.Path, After: renderSummary(doc)}
	if planned.Before != nil {
		shown.Before = c.compare(doc)
	}
	if full || bytes.Equal(shown.Before, shown.After) {
		shown = planned
	}
	c.Diff, c.DiffOmitted = shown.Diff(full)
	return c, nil
}

// reviewNotes returns notes about untrusted text that a person should review: it resembles an
// attack on agents, or contains invisible characters.
func reviewNotes(written []byte) (notes []string) {
	for _, f := range lint.Check(written, catalog.Options{}).Findings {
		if f.Severity == answer.SeverityHint ||
			!slices.Contains([]string{"poisoning", "unseen", "disguise", "markup"}, f.Rule) {
			continue
		}
		if len(notes) == maxReviewNotes {
			return append(notes, "there is more to look at once it is saved: aai-gateway lint")
		}
		notes = append(notes, aai.CleanLabel("look at "+f.Path+": it "+f.Problem, maxSummaryLine))
	}
	return notes
}

// compare sets the changes for agents, and notes the origin of a file that would be replaced. It
// returns the summary of the old descriptor.
func (c *plannedApp) compare(doc *catalog.Document) (was []byte) {
	old, err := catalog.Parse(c.change.Before, catalog.Options{})
	switch {
	case err != nil:
		c.Notes = append(c.Notes, c.Path+" holds a descriptor that cannot be read; it would be replaced")
		return nil
	case old.Document.Generated == nil:
		c.Notes = append(c.Notes, c.Path+" was written by hand; it would be replaced")
	case doc.Generated != nil && old.Document.Generated.From != doc.Generated.From:
		c.Notes = append(c.Notes, c.Path+" was made of "+aai.CleanLabel(old.Document.Generated.From, maxSummaryLine)+
			"; it would be replaced")
	}
	compared, err := lint.Compare(c.change.Before, c.change.After, catalog.Options{})
	if err != nil {
		return renderSummary(old.Document) // its version does not count
	}
	for i, one := range compared.Changes {
		if i == maxReportedChanges {
			c.Changes = append(c.Changes, fmt.Sprintf("and %d more", len(compared.Changes)-maxReportedChanges))
			break
		}
		c.Changes = append(c.Changes, strings.TrimSpace(aai.CleanLabel(one.Path+" "+one.Problem, maxSummaryLine)))
	}
	return renderSummary(old.Document)
}
