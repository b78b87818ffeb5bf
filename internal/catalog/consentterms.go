package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"sync"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/gybob/aai-gateway"
)

// consentTerms is all that a person is told of a tool, and all that it would do: what
// consent is bound to.
type consentTerms struct {
	Origin, App, AppName      string
	Tool, Description, Effect string
	Parameters, Returns       json.RawMessage
	Recipe                    *aai.Recipe
}

// setDigests gives each tool its digest, which is made when somebody asks for it, and
// says in a line what it runs.
func (p *parser) setDigests() {
	if p.chosen == nil {
		return
	}
	for i, tool := range p.app.Tools {
		recipe := p.run[i]
		tool.Implementation = aai.CleanLabel(describeRecipe(p.kinds, recipe), maxText)
		origin, app := p.o.Origin, p.app
		tool.Digest = sync.OnceValue(func() string {
			return digestOf(consentTerms{
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
func digestOf(t consentTerms) string {
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
