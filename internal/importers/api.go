package importers

import (
	"context"
	"net/url"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

const apiParams = `{
	"source": {"type": "string", "minLength": 1, "maxLength": 400, "description": "A file, absolute, or the address of an OpenAPI document"},
	"id": {"type": "string", "maxLength": 100, "description": "The app's id"},
	"server": {"type": "string", "maxLength": 200, "description": "The API's address, if not the document's"},
	"login": {"type": "string", "maxLength": 60, "description": "Which of the document's security schemes is used"},
	"groups": {"type": "array", "maxItems": 20, "items": {"type": "string", "minLength": 1, "maxLength": 60}, "description": "Only the operations of these tags"},
	"full": {"type": "boolean", "description": "Show the difference of the file itself"}`

// maxDocument limits a document, in bytes.
const maxDocument = 24 << 20

// draftAPI is the [Source] that converts the document that a call names to an app.
func (r *Importer) draftAPI(ctx context.Context, call *aai.Call) (*Review, error) {
	from := stringArg(call, "source")
	source, address, err := r.readDocument(ctx, from)
	if err != nil {
		return nil, err
	}
	got, err := ReadOpenAPI(source, OpenAPIOptions{
		Source: from, Address: address, ID: stringArg(call, "id"), Server: stringArg(call, "server"),
		Login: stringArg(call, "login"), Groups: stringsArg(call, "groups"), IsDestructive: r.cfg.IsDestructive,
		Driver: r.cfg.Driver,
	})
	if err != nil {
		e := *aai.AsError(err)
		e.Message = aai.CleanLabel(from, 200) + ": " + e.Message
		return nil, &e
	}
	full, _ := call.Args["full"].(bool)
	c, err := r.plan(got.Document, got.Text, full)
	if err != nil {
		return nil, err
	}
	c.Notes = append(c.Notes, got.Notes...)
	section := got.Document.Sections[0]
	shown := &answer.DraftedAPI{DraftedApp: c.DraftedApp, BaseURL: section.BaseURL, Operations: got.Operations, Groups: got.Groups,
		Left: got.Skipped}
	if section.Auth != nil {
		shown.Login = section.Auth.Kind
	}
	if shown.Left == nil {
		shown.Left = []answer.SkippedOperation{}
	}
	review := &Review{
		Apps: []ReviewedApp{{ID: c.App, Change: c.change}}, Origin: "the document, or " + c.Path,
		Preview: &aai.Result{Data: shown}, Seen: &shown.Seen,
		Saved: func([]string) *aai.Result {
			return &aai.Result{Text: "Saved as " + c.Path + ".",
				Data: map[string]any{"app": c.App, "path": c.Path, "tools": c.Tools}}
		},
	}
	if !c.Same {
		record := &importRecord{From: OpenAPISourcePrefix + withoutKeys(from), Apps: []SavedChange{c.change.Record(c.App)}}
		review.Prepare = func(context.Context) error { return r.saveRecord(record) }
	}
	return review, nil
}

// readDocument reads the document at a path or a URL; address is the URL, or "" for a file.
func (r *Importer) readDocument(ctx context.Context, source string) (text []byte, address string, err error) {
	if !strings.Contains(source, "://") {
		text, err = atomicfile.Read(source, atomicfile.ReadLimits{Size: maxDocument})
		if err != nil {
			e := aai.Errorf(aai.InvalidParams, "source: %s: %w; expected an OpenAPI document of at most %d MiB",
				aai.CleanLabel(source, 300), err, maxDocument>>20)
			e.Hint = "Name a file, or an address such as https://api.example.com/openapi.json."
			return nil, "", e
		}
		return text, "", nil
	}
	u, err := url.Parse(source)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, "",
			aai.Errorf(aai.InvalidParams, "source: is no web address; expected one such as https://api.example.com/openapi.json")
	}
	if r.cfg.Fetch == nil {
		e := aai.Errorf(aai.AutomationNotSupported, "source: this gateway cannot fetch it")
		e.Hint = "Save the document in a file, and name that."
		return nil, "", e
	}
	text, err = r.cfg.Fetch(ctx, source, maxDocument)
	return text, source, err
}
