package catalog

import (
	"context"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/schema"
)

// A Status says what became of one file.
type Status string

// The statuses.
const (
	StatusOK          Status = "ok"                    // the app is in the catalog and can run here
	StatusUnsupported Status = "not_for_this_computer" // the app is in the catalog; calls answer AUTOMATION_NOT_SUPPORTED
	StatusShadowed    Status = "shadowed"              // another file describes the same app and comes first
	StatusRefused     Status = "refused"               // right in itself, but its names clash with another app's
	StatusInvalid     Status = "invalid"               // unreadable, or not a right descriptor
)

// A Report tells of every file that was looked at, in order of precedence.
type Report struct {
	Files []FileReport `json:"files"`
}

// A FileReport tells of one file.
type FileReport struct {
	Path     string `json:"path"`
	Place    string `json:"place"` // where it was looked for, such as "/home/ann/.aai/*/aai.json"
	App      string `json:"app,omitempty"`
	Name     string `json:"name,omitempty"`
	Platform string `json:"platform,omitempty"` // whose tools were taken
	Tools    int    `json:"tools"`
	Unprobed bool   `json:"not_started,omitempty"` // the app's server has not said yet which; see aai.App
	Status   Status `json:"status"`
	// ShadowedBy is the path of the file that comes first.
	ShadowedBy string  `json:"shadowed_by,omitempty"`
	Errors     []Fault `json:"errors,omitempty"`
	Omitted    int     `json:"errors_omitted,omitempty"`
	Warnings   []Fault `json:"warnings,omitempty"`
}

// Report tells what the last scan found, waiting for the first one as long as ctx
// allows. It also compiles every schema, which otherwise happens at the first
// call, and reports what fails as errors of a file that is in the catalog
// nonetheless. Its error is an *aai.Error.
func (c *Catalog) Report(ctx context.Context) (*Report, error) {
	s, err := c.current(ctx)
	if err != nil {
		return nil, err
	}
	r := &Report{Files: make([]FileReport, 0, len(s.files))}
	for _, file := range s.files {
		if err := ctx.Err(); err != nil {
			return nil, aai.AsError(err)
		}
		r.Files = append(r.Files, file.report())
	}
	return r, nil
}

func (f *fileState) report() FileReport {
	app := f.descriptor.App
	r := FileReport{
		Path: f.path, Place: f.place.String(),
		App: app.ID, Name: app.Name, Platform: app.Platform, Tools: len(app.Tools),
		Status: f.status, ShadowedBy: f.shadowedBy,
		Errors: append([]Fault(nil), f.faults.List...), Omitted: f.faults.Omitted,
		Warnings: f.warnings,
	}
	if f.problem != "" {
		r.Errors = append(r.Errors, Fault{Problem: f.problem})
	}
	if f.status == StatusInvalid {
		return r
	}
	for _, tool := range app.Tools {
		for _, part := range []struct {
			name   string
			schema aai.Schema
		}{{"parameters", tool.Params}, {"returns", tool.Returns}} {
			if err := schema.Compile(part.schema); err != nil {
				r.Errors = append(r.Errors, Fault{Path: tool.Name + "." + part.name, Problem: aai.AsError(err).Message})
			}
		}
	}
	return r
}
