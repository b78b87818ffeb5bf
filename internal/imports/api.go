package imports

import (
	"context"
	"net/url"
	"strings"

	"aai"
	"aai/internal/openapi"
	"aai/internal/shelf"
	"aai/internal/wholefile"
)

const apiParams = `{
	"source": {"type": "string", "minLength": 1, "maxLength": 400, "description": "A file, absolute, or the address of an OpenAPI document"},
	"id": {"type": "string", "maxLength": 100, "description": "The app's id"},
	"server": {"type": "string", "maxLength": 200, "description": "Where the API is, if not where the document says"},
	"login": {"type": "string", "maxLength": 60, "description": "Which of the document's security schemes is used"},
	"groups": {"type": "array", "maxItems": 20, "items": {"type": "string", "minLength": 1, "maxLength": 60}, "description": "Only the operations of these tags"},
	"full": {"type": "boolean", "description": "Show the difference of the file itself"}`

// maxDocument is how large a document may be, in bytes.
const maxDocument = 24 << 20

// shownAPI is what the tool answers.
type shownAPI struct {
	*change
	Seen       string          `json:"seen"`
	BaseURL    string          `json:"base_url"`
	Login      string          `json:"login,omitempty"`
	Operations int             `json:"operations"`
	Groups     []openapi.Group `json:"groups"`
	Left       []openapi.Left  `json:"left_out"`
}

func (r *Room) showAPI(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	shown, err := r.api(ctx, call)
	if err != nil {
		return nil, err
	}
	return &aai.Result{Data: shown}, nil
}

func (r *Room) saveAPI(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	shown, err := r.api(ctx, call)
	if err != nil {
		return nil, err
	}
	if shown.Seen != text(call, "seen") {
		return nil, shelf.Unseen("the document, or " + shown.Path)
	}
	if !shown.Same {
		if err := r.begin(ofDocument(text(call, "source"), shown.change)); err != nil {
			return nil, err
		}
		if err := shown.planned.Save(ctx); err != nil {
			return nil, err
		}
	}
	return &aai.Result{Text: "Saved as " + shown.Path + ".", Data: map[string]any{"app": shown.App, "path": shown.Path, "tools": shown.Tools}}, nil
}

// api makes an app of the document that a call names.
func (r *Room) api(ctx context.Context, call *aai.Call) (*shownAPI, error) {
	source, address, err := r.document(ctx, text(call, "source"))
	if err != nil {
		return nil, err
	}
	got, err := openapi.Read(source, openapi.Options{
		From: text(call, "source"), Address: address, ID: text(call, "id"), Server: text(call, "server"), Login: text(call, "login"),
		Groups: texts(call, "groups"), Loss: r.cfg.Loss, Driver: r.cfg.Driver,
	})
	if err != nil {
		e := *aai.AsError(err)
		e.Message = aai.CleanLabel(text(call, "source"), 200) + ": " + e.Message
		return nil, &e
	}
	full, _ := call.Args["full"].(bool)
	c, err := r.plan(got.Document, got.Text, full)
	if err != nil {
		return nil, err
	}
	c.Notes = append(c.Notes, got.Notes...)
	section := got.Document.Sections[0]
	shown := &shownAPI{change: c, BaseURL: section.BaseURL, Operations: got.Operations, Groups: got.Groups, Left: got.Left, Seen: shelf.Seen(c.planned)}
	if section.Auth != nil {
		shown.Login = section.Auth.Kind
	}
	if shown.Left == nil {
		shown.Left = []openapi.Left{}
	}
	return shown, nil
}

// document is the one at a path or an address; address is where it was fetched, "" for a file.
func (r *Room) document(ctx context.Context, source string) (text []byte, address string, err error) {
	if !strings.Contains(source, "://") {
		text, err = wholefile.Read(source, wholefile.Limits{Size: maxDocument})
		if err != nil {
			e := aai.Errorf(aai.InvalidParams, "source: %s: %w; expected an OpenAPI document of at most %d MiB", aai.CleanLabel(source, 300), err, maxDocument>>20)
			e.Hint = "Name a file, or an address such as https://api.example.com/openapi.json."
			return nil, "", e
		}
		return text, "", nil
	}
	u, err := url.Parse(source)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, "", aai.Errorf(aai.InvalidParams, "source: is no web address; expected one such as https://api.example.com/openapi.json")
	}
	if r.cfg.Fetch == nil {
		e := aai.Errorf(aai.AutomationNotSupported, "source: this gateway cannot fetch it")
		e.Hint = "Save the document in a file, and name that."
		return nil, "", e
	}
	text, err = r.cfg.Fetch(ctx, source, maxDocument)
	return text, source, err
}
