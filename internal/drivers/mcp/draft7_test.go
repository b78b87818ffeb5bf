package mcp

import (
	"testing"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/schema"
)

// A schema of a later draft validates with its own keywords.
func TestOlder(t *testing.T) {
	for source, want := range map[string]string{
		`{"type":"object"}`: `{"type":"object"}`,
		`{"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "properties": {"b": {"$ref": "#/$defs/x"}, "a": {"const": "#/$defs/y"}, "$schema": {"type": "string"}}, "$defs": {"x": {"minimum": 1.50}}}`: `{"type":"object","properties":{"b":{"$ref":"#/definitions/x"},"a":{"const":"#/$defs/y"},"$schema":{"type":"string"}},"definitions":{"x":{"minimum":1.50}}}`,
		`{"$schema": `:      `{"$schema": `,
		`{"$schema": 1} {}`: `{"$schema": 1} {}`,
		`["$schema", "a"]`:  `["$schema","a"]`,
	} {
		if got := string(toDraft7([]byte(source))); got != want {
			t.Errorf("%s\n got %s\nwant %s", source, got, want)
		}
	}
	facts, err := new(schema.Reader).Read(toDraft7([]byte(`{"$schema": "https://json-schema.org/draft/2020-12/schema", "properties": {"b": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"type": "integer"}}}`)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := facts.Schema.Check(map[string]any{"b": "text"}); aai.AsError(err) == nil {
		t.Error("what $defs say is not checked")
	}
}
