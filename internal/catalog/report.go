package catalog

import (
	"context"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/schema"
)

// A Status says whether one descriptor file's app is in the catalog, and why not.
type Status string

// Statuses of descriptor files.
const (
	StatusOK          Status = "ok"                    // the app is in the catalog and can run here
	StatusUnsupported Status = "not_for_this_computer" // the app is in the catalog; calls return AUTOMATION_NOT_SUPPORTED
	StatusShadowed    Status = "shadowed"              // another file describes the same app and takes precedence
	StatusRefused     Status = "refused"               // valid, but its names conflict with another app's
	StatusInvalid     Status = "invalid"               // unreadable, or an invalid descriptor
)

// A Report describes every file that was scanned, in order of precedence.
type Report struct {
	Files []FileReport `json:"files"`
}

// A FileReport describes one descriptor file and the app in it.
type FileReport struct {
	Path     string `json:"path"`
	Place    string `json:"place"` // the place of the file, such as "/home/ann/.aai/*/aai.json"
	App      string `json:"app,omitempty"`
	Name     string `json:"name,omitempty"`
	Platform string `json:"platform,omitempty"` // the platform of the tools
	Tools    int    `json:"tools"`
	Unprobed bool   `json:"not_started,omitempty"` // the app's server has not listed its tools yet; see aai.App
	Status   Status `json:"status"`
	// ShadowedBy is the path of the file that takes precedence.
	ShadowedBy string  `json:"shadowed_by,omitempty"`
	Errors     []Fault `json:"errors,omitempty"`
	Omitted    int     `json:"errors_omitted,omitempty"`
	Warnings   []Fault `json:"warnings,omitempty"`
}

// Report returns the result of the last scan, waiting for the first one until ctx ends. It also compiles every
// schema, which otherwise happens at the first call. A schema that fails becomes an error of its file, although the
// app stays in the catalog. A returned error is an *aai.Error.
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
	app := f.readApp
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
