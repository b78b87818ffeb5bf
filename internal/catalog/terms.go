package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"aai"
)

// terms is all that a person is told of a tool, and all that it would do: what
// consent is bound to.
type terms struct {
	Origin, App, AppName      string
	Tool, Description, Effect string
	Parameters, Returns       json.RawMessage
	Recipe                    *aai.Recipe
}

// agree gives each tool its digest, which is made when somebody asks for it, and
// says in a line what it runs.
func (p *parser) agree() {
	if p.chosen == nil {
		return
	}
	for i, tool := range p.chosen.tools {
		recipe := p.chosen.recipes[i]
		tool.Runs = aai.CleanLabel(runs(recipe), maxText)
		origin, app := p.o.Origin, p.app
		tool.Digest = sync.OnceValue(func() string {
			return digestOf(terms{
				Origin: origin, App: app.ID, AppName: app.Name,
				Tool: tool.Name, Description: tool.Description, Effect: tool.Effect.String(),
				Parameters: tool.Params.Source, Returns: tool.Returns.Source, Recipe: recipe,
			})
		})
	}
}

// digestOf is the SHA-256 of the terms in the JSON Canonicalization Scheme
// (RFC 8785). What is not set is left out, so that a word which a later version
// learns does not ask everybody again. It is empty for what cannot be written as
// JSON; then the whole descriptor's digest counts.
func digestOf(t terms) string {
	durations := jsonv2.MarshalFunc(func(d time.Duration) ([]byte, error) { return json.Marshal(d.String()) })
	b, err := jsonv2.Marshal(t, jsonv2.OmitZeroStructFields(true), jsonv2.WithMarshalers(durations))
	if err != nil {
		return ""
	}
	value := jsontext.Value(b)
	if err := value.Canonicalize(); err != nil {
		return ""
	}
	sum := sha256.Sum256(value)
	return hex.EncodeToString(sum[:])
}

// runs says what a recipe does, in one line for people.
func runs(r *aai.Recipe) string {
	switch {
	case r.DBus != nil && r.DBus.Property != "":
		return fmt.Sprintf("D-Bus %s %s %s property %s.%s", r.DBus.Access, r.DBus.Service, r.DBus.Object, r.DBus.Interface, r.DBus.Property)
	case r.DBus != nil:
		return fmt.Sprintf("D-Bus %s %s %s.%s", r.DBus.Service, r.DBus.Object, r.DBus.Interface, r.DBus.Method)
	case r.IPC != nil:
		return strings.TrimSpace("the app itself " + r.IPC.Service + r.IPC.BundleID + r.IPC.ProgID)
	case r.Script != nil:
		return r.Script.Language + " " + r.Script.Script
	case r.COM != nil:
		return strings.TrimSpace("COM " + r.COM.ProgID + " " + steps(r.COM.Steps))
	case r.Intent != nil:
		return strings.TrimSpace("Android intent " + r.Intent.Package + " " + r.Intent.Action)
	case r.URL != nil:
		return "opens " + r.URL.Scheme + " " + r.URL.Template
	case r.HTTP != nil:
		return fmt.Sprintf("%s %s%s", r.HTTP.Method, r.HTTP.BaseURL, r.HTTP.Path)
	}
	return ""
}

func steps(all []aai.COMStep) string {
	words := make([]string, len(all))
	for i, s := range all {
		words[i] = strings.Join(strings.Fields(s.Action+" "+s.ProgID+" "+s.Method+" "+s.Property), " ")
	}
	return strings.Join(words, ", ")
}
