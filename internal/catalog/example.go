package catalog

import (
	"bytes"
	"encoding/json"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// example returns arguments that match a tool's schema: the required ones, with values that the
// schema suggests. It returns nil if it finds none, so that a guide never shows an invalid call.
func example(tool *aai.Tool, view schemaView) json.RawMessage {
	if tool.Params.Check == nil {
		return json.RawMessage(`{}`)
	}
	if view.node == nil {
		return nil
	}
	for _, all := range []bool{false, true} {
		args, ok := view.at(view.node).sampleObject(all, 1).(map[string]any)
		if !ok {
			continue
		}
		if _, err := tool.Params.Check(args); err != nil {
			continue
		}
		if made := encodeInOrder(args, tool.Params.Order); isPresentable(made) {
			return made
		}
	}
	return nil
}

// maxExample limits an example, in bytes.
const maxExample = 600

// isPresentable reports whether an example has at most maxExample bytes after escaping of invisible characters.
func isPresentable(args json.RawMessage) bool {
	return len(sanitize.QuoteJSON(string(args))) <= maxExample
}

// sample returns a value that the schema suggests for the parameter name. all includes optional members.
func (v schemaView) sample(name string, all bool, nesting int) any {
	if nesting > maxDepth {
		return nil
	}
	for _, key := range []string{"const", "default"} {
		if n := v.node.Member(key); n != nil {
			return n.Value(nil)
		}
	}
	for _, key := range []string{"enum", "examples"} {
		if n := v.node.Member(key); n != nil && n.First != nil {
			return n.First.Value(nil)
		}
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		if n := v.node.Member(key); n != nil && n.First != nil && v.node.Member("type") == nil {
			return v.at(n.First).sample(name, all, nesting+1)
		}
	}
	switch v.firstType() {
	case "integer", "number":
		return v.sampleNumber()
	case "boolean":
		return true
	case "null":
		return nil
	case "array":
		return v.sampleList(name, all, nesting)
	case "object":
		return v.sampleObject(all, nesting)
	}
	return v.sampleText(name)
}

func (v schemaView) firstType() string {
	t := v.node.Member("type")
	switch {
	case t != nil && t.Kind == text:
		return t.Text
	case t != nil && t.Kind == list && t.First != nil:
		return t.First.Text
	case v.node.Member("properties") != nil:
		return "object"
	}
	return "string"
}

func (v schemaView) sampleObject(all bool, nesting int) any {
	made := map[string]any{}
	if nesting > maxDepth {
		return made
	}
	v.properties(func(name string, required bool, property schemaView) {
		if required || all {
			made[name] = property.sample(name, all, nesting+1)
		}
	})
	return made
}

func (v schemaView) sampleList(name string, all bool, nesting int) any {
	if tuple := v.tuple(); tuple != nil {
		made := []any{}
		for item := tuple.First; item != nil; item = item.Next {
			made = append(made, v.at(item).sample(name, all, nesting+1))
		}
		return made
	}
	items := v.node.Member("items")
	if items == nil || items.Kind != object || nesting > maxDepth {
		return []any{}
	}
	made := []any{v.at(items).sample(strings.TrimSuffix(name, "s"), all, nesting+1)}
	for len(made) < min(v.limit("minItems", 1), maxChoices) {
		made = append(made, made[0])
	}
	return made
}

// limit returns an integer keyword of the schema, or otherwise if it is absent or no integer.
func (v schemaView) limit(key string, otherwise int) int {
	n := v.node.Member(key)
	if n == nil {
		return otherwise
	}
	value, err := strconv.Atoi(n.Text)
	if err != nil {
		return otherwise
	}
	return value
}

func (v schemaView) sampleNumber() any {
	value := 1.0
	read := func(key string) (float64, bool) {
		n := v.node.Member(key)
		if n == nil || n.Kind != number {
			return 0, false
		}
		f, err := strconv.ParseFloat(n.Text, 64)
		return f, err == nil
	}
	if least, ok := read("minimum"); ok && value < least {
		value = least
	}
	if least, ok := read("exclusiveMinimum"); ok && value <= least {
		value = least + 1
	}
	if most, ok := read("maximum"); ok && value > most {
		value = most
	}
	if most, ok := read("exclusiveMaximum"); ok && value >= most {
		value = most - 1
	}
	if unit, ok := read("multipleOf"); ok && unit > 0 {
		value = math.Ceil(value/unit) * unit
	}
	return json.Number(strconv.FormatFloat(value, 'f', -1, 64))
}

// sampleText returns a string that matches the schema's format, pattern and length.
func (v schemaView) sampleText(name string) any {
	if f := v.node.Member("format"); f != nil {
		if s := formatted(f.Text); s != "" {
			return s
		}
	}
	candidates := []string{
		aai.CleanLabel(name, maxName), "text", "1", "12", "1234", "abc", "ABC", "en-US", "2026-01-31", "12:30",
		"2026-01-31T12:30:00Z", "ann@example.com", "https://example.com", "+1 555 0100", "#336699", "/home",
	}
	least, most := v.limit("minLength", 0), v.limit("maxLength", maxText)
	pattern := v.node.Member("pattern")
	for _, s := range candidates {
		if pattern == nil && len(s) < least {
			s = (s + strings.Repeat("x", min(least, maxText)))[:min(least, maxText)]
		}
		if s != "" && len(s) <= most && (pattern == nil || matches(pattern.Text, s)) {
			return s
		}
	}
	return ""
}

func matches(pattern, s string) bool {
	re, err := regexp.Compile(pattern)
	return err == nil && re.MatchString(s)
}

func formatted(format string) string {
	switch format {
	case "date-time":
		return "2026-01-31T12:30:00Z"
	case "date":
		return "2026-01-31"
	case "time":
		return "12:30:00Z"
	case "duration":
		return "PT5M"
	case "email", "idn-email":
		return "ann@example.com"
	case "hostname", "idn-hostname":
		return "example.com"
	case "uri", "iri", "uri-reference", "iri-reference", "uri-template":
		return "https://example.com"
	case "ipv4":
		return "192.0.2.1"
	case "ipv6":
		return "2001:db8::1"
	case "uuid":
		return "123e4567-e89b-12d3-a456-426614174000"
	}
	return ""
}

// encodeInOrder encodes arguments as one line of JSON, in the order of the schema's properties.
func encodeInOrder(args map[string]any, order []string) json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for _, name := range order {
		value, given := args[name]
		if !given {
			continue
		}
		if b.Len() > 1 {
			b.WriteString(", ")
		}
		b.Write(encode(name))
		b.WriteString(": ")
		b.Write(encode(value))
	}
	b.WriteByte('}')
	return b.Bytes()
}

// encode returns compact JSON without escapes for HTML.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return []byte("null")
	}
	return bytes.TrimSpace(b.Bytes())
}
