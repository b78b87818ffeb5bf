package introspect

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/catalog/lint"
	"github.com/gybob/aai-gateway/internal/schema"
)

// A wordsProvider gives a draft better texts, writes it, and returns them as an object, or nil if
// they have another form. All providers apply texts through [MergeWords].
type wordsProvider func(ctx context.Context, d *Draft) (json.RawMessage, error)

// keepWords is the provider for a call without words: it writes the draft as it is.
func keepWords(_ context.Context, d *Draft) (json.RawMessage, error) { return nil, d.write() }

// Limits on an object of words.
const (
	maxWords      = 64 << 10 // bytes
	maxWordsTools = "200"
)

// wordsSchema is the schema of an object of words: the texts of a descriptor. It allows no
// additional properties, so that other content is an error.
const wordsSchema = `{"type": "object", "additionalProperties": false, "properties": {
	"app": {"type": "object", "additionalProperties": false, "properties": {"description": {"type": "string"}}},
	"tools": {"type": "array", "maxItems": ` + maxWordsTools +
	`, "items": {"type": "object", "additionalProperties": false, "required": ["name"], "properties": {
		"name": {"type": "string"}, "title": {"type": "string"}, "description": {"type": "string"},
		"parameters": {"type": "object", "additionalProperties": false, "properties": {"properties": {"type": "object", "additionalProperties":
			{"type": "object", "additionalProperties": false, "properties": {"description": {"type": "string"}}}}}}}}}}}`

const wordsHint = `Give words alone, of tools and parameters that are there: {"app": {"description": "…"}, "tools": [{"name": "…", "title": "…", "description": "…", "parameters": {"properties": {"…": {"description": "…"}}}}]}.`

// appWords is a decoded object of words; see wordsSchema.
type appWords struct {
	App   aboutWords  `json:"app"`
	Tools []toolWords `json:"tools"`
}

type aboutWords struct {
	Description string `json:"description"`
}

type toolWords struct {
	Name        string          `json:"name"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Params      json.RawMessage `json:"parameters"`
}

// wordsProviderFor returns the provider that a call requests. A request that is not allowed or
// not possible is an error before any program is called.
func wordsProviderFor(ctx context.Context, call *aai.Call) (wordsProvider, error) {
	given, worded := call.Args["words"]
	improve, _ := call.Args["improve"].(bool)
	path, isFile := given.(string)
	switch {
	case worded && improve:
		return nil, aai.Errorf(aai.InvalidParams, "improve: words are given; expected one of words and improve")
	case improve:
		return modelWords(ctx)
	case !worded:
		return keepWords, nil
	case !isFile:
		return argumentWords(given)
	case !isPersonal(call):
		e := aai.Errorf(aai.PermissionDenied, "words: a file is read for the person, not for an agent; expected the words "+
			"themselves, as an object")
		e.Hint = wordsHint
		return nil, e
	}
	return func(_ context.Context, d *Draft) (json.RawMessage, error) { return nil, d.wordsFromFile(path) }, nil
}

// argumentWords returns a provider for the words in an argument.
func argumentWords(given any) (wordsProvider, error) {
	text, err := json.Marshal(given)
	if err != nil {
		return nil, aai.Errorf(aai.InvalidParams, "words: cannot be written as JSON: %w", err)
	}
	w, err := readWords(text)
	if err != nil {
		return nil, withHint(prefixError("words", err), wordsHint)
	}
	return func(_ context.Context, d *Draft) (json.RawMessage, error) {
		if err := d.applyWords(w, "the caller"); err != nil {
			return nil, withHint(prefixError("words", err), wordsHint)
		}
		return text, nil
	}, nil
}

// wordsFromFile merges the words of a file: another version of the document, or an object of words.
func (d *Draft) wordsFromFile(path string) error {
	text, err := catalog.ReadFile(path)
	if err == nil {
		if isWords(text) {
			var w *appWords
			if w, err = readWords(text); err == nil {
				err = d.applyWords(w, path)
			}
		} else {
			var by *catalog.Descriptor
			if by, err = catalog.Parse(text, catalog.Options{HostPlatform: "linux"}); err == nil {
				err = d.mergeDocument(by.Document, path)
			}
		}
	}
	if err != nil {
		return prefixError("words: "+aai.CleanLabel(path, 200), err)
	}
	return nil
}

// isWords reports whether a text is an object of words rather than a descriptor, which also
// defines how tools run.
func isWords(text []byte) bool {
	var whole map[string]json.RawMessage
	if json.Unmarshal(text, &whole) != nil {
		return false
	}
	for name := range whole {
		if name != "app" && name != "tools" {
			return false
		}
	}
	return true
}

// readWords decodes an object of words. The error is an *aai.Error that names the place.
func readWords(text []byte) (*appWords, error) {
	if len(text) > maxWords {
		return nil, aai.Errorf(aai.InvalidParams, "has %d bytes; expected at most %d", len(text), maxWords)
	}
	var value any
	decoder := json.NewDecoder(bytes.NewReader(text))
	if err := decoder.Decode(&value); err != nil {
		return nil, aai.Errorf(aai.InvalidParams, "is no JSON: %w; expected one object of words", err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, aai.Errorf(aai.InvalidParams, "there is more after the JSON; expected one object of words")
	}
	allowed, err := schema.Parse([]byte(wordsSchema))
	if err != nil {
		return nil, err
	}
	if _, err := allowed.Check(value); err != nil {
		return nil, err
	}
	canonical, err := json.Marshal(value) // of a duplicate name, the validated value counts
	if err != nil {
		return nil, aai.Errorf(aai.InvalidParams, "cannot be written as JSON: %w", err)
	}
	w := &appWords{}
	if err := json.Unmarshal(canonical, w); err != nil {
		return nil, aai.Errorf(aai.InvalidParams, "is no object of words: %w", err)
	}
	return w, nil
}

// applyWords merges words for existing tools and parameters, unless they look like an attack.
// Texts that are too long to display are not taken, and noted.
func (d *Draft) applyWords(w *appWords, whose string) error {
	section := &d.Document.Sections[0]
	looked := &wordsCheck{isSuspicious: lint.SuspiciousTextDetector()}
	by := &catalog.Document{Description: w.App.Description, Sections: []catalog.Section{{Platform: section.Platform}}}
	looked.text("app.description", w.App.Description)
	for i, t := range w.Tools {
		at := fmt.Sprintf("tools[%d]", i)
		tool := toolCalled(section, t.Name)
		if tool == nil {
			looked.reject("%s.name: there is no tool %q, and words add none", at, aai.CleanLabel(t.Name, maxToolName))
			break
		}
		looked.text(at+".title", t.Title)
		looked.text(at+".description", t.Description)
		looked.params(at+".parameters.properties", t.Params, tool.Params)
		by.Sections[0].Tools = append(by.Sections[0].Tools,
			catalog.ToolDeclaration{Name: t.Name, Title: t.Title, Description: t.Description, Params: t.Params})
	}
	if looked.err != nil {
		return looked.err
	}
	if len(looked.truncated) > 0 {
		d.Notes = append(d.Notes, fmt.Sprintf("texts of %s not taken, since each has more than %d bytes or lines: %s", whose,
			maxDescription, aai.CleanLabel(fmt.Sprint(looked.truncated), 300)))
	}
	return d.mergeDocument(by, whose)
}

// toolCalled returns the tool of that name, or nil.
func toolCalled(section *catalog.Section, name string) *catalog.ToolDeclaration {
	for i := range section.Tools {
		if section.Tools[i].Name == name {
			return &section.Tools[i]
		}
	}
	return nil
}

// mergeDocument merges the texts of another version, and writes the document. If the result is
// invalid, it returns an error and keeps the draft.
func (d *Draft) mergeDocument(by *catalog.Document, whose string) error {
	was := *d
	improved, taken := MergeWords(d.Document, by)
	d.Document = improved
	if err := d.write(); err != nil {
		*d = was
		return aai.Errorf(aai.InvalidParams, "with these words it is no descriptor: %s", aai.AsError(err).Message)
	}
	d.Notes = append(d.Notes, fmt.Sprintf("texts taken of %s: %d", whose, taken))
	return nil
}

// A wordsCheck validates words and stops at the first rejected one.
type wordsCheck struct {
	isSuspicious func(string) bool
	truncated    []string // places of texts that are too long to display
	err          error
}

func (l *wordsCheck) reject(format string, values ...any) {
	if l.err == nil {
		l.err = aai.Errorf(aai.InvalidParams, format, values...)
	}
}

func (l *wordsCheck) text(at, text string) {
	switch {
	case text == "":
	case l.isSuspicious(text):
		l.reject("%s: looks like an attack on agents, or has invisible characters; none of these words were taken", at)
	case aai.CleanText(text, maxDescription) != text:
		l.truncated = append(l.truncated, at)
	}
}

// params checks the words of parameters, which must exist.
func (l *wordsCheck) params(at string, theirs, ours json.RawMessage) {
	if len(theirs) == 0 {
		return
	}
	var given, known struct {
		Properties map[string]aboutWords `json:"properties"`
	}
	if json.Unmarshal(theirs, &given) != nil {
		l.reject("%s: is no object of words", at)
		return
	}
	_ = json.Unmarshal(ours, &known) // no parameters if it is invalid
	for _, name := range slices.Sorted(maps.Keys(given.Properties)) {
		if _, there := known.Properties[name]; !there {
			l.reject("%s: there is no parameter %q, and words add none", at, aai.CleanLabel(name, maxToolName))
			return
		}
		l.text(at+"."+name+".description", given.Properties[name].Description)
	}
}

// prefixError adds the place of the words to an error.
func prefixError(where string, err error) *aai.Error {
	e := *aai.AsError(err)
	e.Message, e.Delivery = where+": "+e.Message, aai.NotDelivered
	return &e
}

func withHint(e *aai.Error, hint string) *aai.Error {
	e.Hint = hint
	return e
}
