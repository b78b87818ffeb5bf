package answer_test

import (
	"encoding/json"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/answer"
)

// TestSchemaOf checks the order of columns, closed rows, and members that the schema does not describe.
func TestSchemaOf(t *testing.T) {
	type row struct {
		Name  string             `json:"name" column:"2,name"`
		Since time.Time          `json:"since,omitzero" column:"1,since"`
		Kind  string             `json:"kind" enum:"a,b c"`
		Args  json.RawMessage    `json:"args"`
		Codes map[string]int     `json:"codes"`
		Deep  struct{ A string } `json:"deep"`
		inner int
	}
	type list struct {
		Rows  []row   `json:"rows"`
		Also  []row   `json:"also" column:"-"`
		Ms    float64 `json:"ms" about:"Milliseconds"`
		Other any     `json:"-"`
	}
	_ = row{}.inner
	const want = `{"type": "object", "properties": {"rows": {"type": "array", "items": {"type": "object", "additionalProperties": false, "properties": {` +
		`"since": {"type": "string", "format": "date-time", "title": "since"}, "name": {"type": "string", "title": "name"}, ` +
		`"kind": {"type": "string", "enum": ["a", "b c"]}, "args": {}, "codes": {"type": "object"}, "deep": {"type": "object"}}}}, ` +
		`"also": {"type": "array", "items": {"type": "object"}}, "ms": {"type": "number", "description": "Milliseconds"}}}`
	assert.Check(t, is.Equal(string(answer.SchemaOf[list]()), want))
}
