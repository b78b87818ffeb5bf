package schema

import (
	"testing"

	"gotest.tools/v3/assert"
)

// typicalSchema has the size of a tool's parameters in real descriptors.
const typicalSchema = `{
  "type": "object",
  "properties": {
    "to": {"type": "string", "description": "Recipient email address", "format": "email"},
    "subject": {"type": "string", "description": "Subject line", "maxLength": 200},
    "body": {"type": "string", "description": "Text of the message, plain or HTML"},
    "priority": {"type": "string", "enum": ["low", "normal", "high"], "default": "normal"},
    "attachments": {"type": "array", "items": {"type": "string"}, "maxItems": 10},
    "draft": {"type": "boolean", "default": false}
  },
  "required": ["to", "subject", "body"],
  "additionalProperties": false
}`

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	b.SetBytes(int64(len(typicalSchema)))
	for b.Loop() {
		_, err := Parse([]byte(typicalSchema))
		assert.NilError(b, err)
	}
}

func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		s, err := Parse([]byte(typicalSchema))
		assert.NilError(b, err)
		assert.NilError(b, Compile(s))
	}
}

func BenchmarkCheck(b *testing.B) {
	s := MustParse(typicalSchema)
	value := map[string]any{"to": "ada@example.org", "subject": "Hello", "body": "How are you?", "attachments": []any{"a.txt", "b.txt"}}
	b.ReportAllocs()
	for b.Loop() {
		_, err := s.Check(value)
		assert.NilError(b, err)
	}
}

func BenchmarkCheckFails(b *testing.B) {
	s := MustParse(typicalSchema)
	value := map[string]any{"to": "nobody", "priority": "urgent", "cc": "x"}
	b.ReportAllocs()
	for b.Loop() {
		_, err := s.Check(value)
		assert.Assert(b, err != nil)
	}
}
