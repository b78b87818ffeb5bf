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

// consentTerms are the properties of a tool that a consent covers: its description for the person
// and its implementation.
type consentTerms struct {
	Origin, App, AppName      string
	Tool, Description, Effect string
	Parameters, Returns       json.RawMessage
	Recipe                    *aai.Recipe
	Events                    []*aai.Recipe
}

// setDigests sets the digest of each tool, which is computed on demand, and the description of
// its implementation.
func (p *parser) setDigests() {
	if p.chosen == nil {
		return
	}
	for i, tool := range p.app.Tools {
		recipe := p.run[i]
		tool.Implementation.Summary = aai.CleanLabel(describeRecipe(p.kinds, recipe), maxText)
		origin, app := p.o.Origin, p.app
		tool.Implementation.Digest = sync.OnceValue(func() string {
			return digestOf(consentTerms{
				Origin: origin, App: app.ID, AppName: app.Name,
				Tool: tool.Name, Description: tool.Description, Effect: tool.Effect.String(),
				Parameters: tool.Params.Source, Returns: tool.Returns.Source, Recipe: recipe,
			})
		})
	}
}

// digestOf returns the SHA-256 of the terms in the JSON Canonicalization Scheme (RFC 8785). It
// omits zero values, so that new fields in later versions do not invalidate existing consents. It
// returns "" for terms that cannot be encoded; the digest of the whole descriptor then counts.
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
