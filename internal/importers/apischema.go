package importers

import (
	"encoding/json"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/schema"
)

// Limits on schemas, in bytes, because models read them.
const (
	maxParams  = 12 << 10
	maxReturns = 2 << 10
)

// A schemaDetail limits the detail of a schema.
type schemaDetail struct {
	depth int // nested objects and lists
	words int // bytes of a description
	enum  int // values of an enum; 0: 400
}

// details returns the levels of detail, to try in order until the schema fits.
func details() []schemaDetail {
	return []schemaDetail{
		{depth: 8, words: 200}, {depth: 6, words: 120}, {depth: 4, words: 80}, {depth: 3, words: 60},
		{depth: 2, words: 60, enum: 60}, {depth: 1, words: 40, enum: 30}, {depth: 1, enum: 12},
	}
}

// isReadableSchema reports whether the gateway can parse the schema.
func isReadableSchema(text []byte) bool {
	_, err := schema.Parse(text)
	return err == nil
}

// A schemaConverter converts OpenAPI schemas to draft-07 without references. A recursive schema
// ends in one that accepts anything. If a document's schema is wrong, so that it would accept no
// value or reject valid ones, the converted schema is more permissive.
type schemaConverter struct {
	schemaDetail
	answers   bool // for responses, not for requests
	ancestors []*openapi3.Schema
	count     int
}

// maxSchemas limits the subschemas visited for one schema.
const maxSchemas = 3_000

// object is a JSON object under construction.
type object = map[string]any

func (c *schemaConverter) schema(ref *openapi3.SchemaRef, depth int) object {
	if ref == nil || ref.Value == nil {
		return object{}
	}
	s := ref.Value
	if s.Always != nil && *s.Always {
		return object{}
	}
	if c.count++; slices.Contains(c.ancestors, s) || len(c.ancestors) > 24 || c.count > maxSchemas {
		return object{}
	}
	c.ancestors = append(c.ancestors, s)
	defer func() { c.ancestors = c.ancestors[:len(c.ancestors)-1] }()
	o := object{}
	types := typesOf(s)
	c.choices(o, s, &types)
	switch len(types) {
	case 0:
	case 1:
		o["type"] = types[0]
	default:
		o["type"] = types
	}
	c.words(o, s, depth)
	c.bounds(o, s)
	if depth < c.depth {
		c.parts(o, s, depth)
	}
	c.combined(o, s, depth)
	return o
}

// typesOf returns the JSON types of a schema, including null.
func typesOf(s *openapi3.Schema) []string {
	var types []string
	for _, t := range s.Type.Slice() {
		switch t {
		case "string", "number", "integer", "boolean", "array", "object", "null":
			if !slices.Contains(types, t) {
				types = append(types, t)
			}
		}
	}
	if len(types) == 0 && len(s.Properties) > 0 {
		types = []string{"object"}
	}
	if s.Nullable && len(types) > 0 && !slices.Contains(types, "null") {
		types = append(types, "null")
	}
	return types
}

// choices writes the enum. It drops the types if they exclude one of the values.
func (c *schemaConverter) choices(o object, s *openapi3.Schema, types *[]string) {
	most := c.enum
	if most == 0 {
		most = 400
	}
	var values []any
	for _, v := range s.Enum {
		if !slices.ContainsFunc(values, func(other any) bool { return reflect.DeepEqual(other, v) }) {
			values = append(values, v)
		}
	}
	if s.Const != nil {
		values = []any{s.Const}
	}
	if len(values) == 0 || len(values) > most {
		return
	}
	if s.Nullable && !slices.Contains(values, any(nil)) {
		values = append(values, nil)
	}
	for _, v := range values {
		if len(*types) > 0 && !ofType(v, *types) {
			*types = nil
		}
	}
	o["enum"] = values
}

// ofType reports whether a value is of one of the types.
func ofType(v any, types []string) bool {
	name := ""
	switch v := v.(type) {
	case nil:
		name = "null"
	case string:
		name = "string"
	case bool:
		name = "boolean"
	case float64:
		if v == math.Trunc(v) && slices.Contains(types, "integer") {
			return true
		}
		name = "number"
	case json.Number, int, int64, uint64:
		return slices.Contains(types, "number") || slices.Contains(types, "integer")
	case []any:
		name = "array"
	case map[string]any:
		name = "object"
	}
	return slices.Contains(types, name)
}

// words writes the description and mentions the server's default. It sets no "default", because
// the caller decides whether to send it.
func (c *schemaConverter) words(o object, s *openapi3.Schema, depth int) {
	most := c.schemaDetail.words
	if depth > 2 {
		most = min(most, 80)
	}
	if most > 0 {
		words := firstWords(s.Description, most)
		if words == "" {
			words = firstWords(s.Title, most)
		}
		if text, ok := scalarWords(s.Default); ok && !c.answers {
			words = strings.TrimSpace(strings.TrimRight(words, " .") + " (by default " + text + ")")
		}
		if words != "" {
			o["description"] = words
		}
	}
	if s.WriteOnly && !c.answers {
		o["writeOnly"] = true
	}
	if s.Format != "" && len(s.Format) <= 40 {
		o["format"] = aai.CleanLabel(s.Format, 40)
	}
}

func scalarWords(v any) (string, bool) {
	switch v.(type) {
	case string, bool, float64, json.Number, int, int64:
		b, err := json.Marshal(v)
		return string(b), err == nil && len(b) <= 40
	}
	return "", false
}

// bounds writes the range keywords, without ranges that exclude every value.
func (c *schemaConverter) bounds(o object, s *openapi3.Schema) {
	number := func(name string, v *float64) {
		if v != nil && !math.IsInf(*v, 0) && !math.IsNaN(*v) {
			o[name] = *v
		}
	}
	if s.Min == nil || s.Max == nil || *s.Min <= *s.Max {
		low, high := "minimum", "maximum"
		if s.ExclusiveMin.Bool != nil && *s.ExclusiveMin.Bool {
			low = "exclusiveMinimum"
		}
		if s.ExclusiveMax.Bool != nil && *s.ExclusiveMax.Bool {
			high = "exclusiveMaximum"
		}
		number(low, s.Min)
		number(high, s.Max)
	}
	number("exclusiveMinimum", s.ExclusiveMin.Value)
	number("exclusiveMaximum", s.ExclusiveMax.Value)
	if s.MultipleOf != nil && *s.MultipleOf > 0 {
		number("multipleOf", s.MultipleOf)
	}
	count := func(low, high string, from uint64, to *uint64) {
		const most = 1 << 40
		if to != nil && (*to < from || *to > most) {
			return
		}
		if from > 0 && from <= most {
			o[low] = from
		}
		if to != nil {
			o[high] = *to
		}
	}
	count("minLength", "maxLength", s.MinLength, s.MaxLength)
	count("minItems", "maxItems", s.MinItems, s.MaxItems)
	if s.UniqueItems {
		o["uniqueItems"] = true
	}
	if s.Pattern != "" && len(s.Pattern) <= 300 {
		if _, err := regexp.Compile(s.Pattern); err == nil {
			o["pattern"] = s.Pattern
		}
	}
}

// parts writes the members of objects and lists.
func (c *schemaConverter) parts(o object, s *openapi3.Schema, depth int) {
	if s.Items != nil {
		o["items"] = c.schema(s.Items, depth+1)
	}
	properties := object{}
	for name, ref := range s.Properties {
		if ref == nil || ref.Value == nil || ref.Value.ReadOnly && !c.answers || ref.Value.WriteOnly && c.answers {
			continue
		}
		properties[name] = c.schema(ref, depth+1)
	}
	if len(properties) > 0 {
		o["properties"] = properties
	}
	if !c.answers {
		var required []string
		for _, name := range s.Required {
			// An allOf part may require a member that another part describes.
			if (properties[name] != nil || len(s.Properties) == 0 && (len(c.ancestors) > 1 || len(s.AllOf) > 0)) &&
				!slices.Contains(required, name) {
				required = append(required, name)
			}
		}
		if len(required) > 0 {
			o["required"] = required
		}
		if has := s.AdditionalProperties.Has; has != nil && !*has && len(properties) > 0 {
			o["additionalProperties"] = false
		}
	}
	if s.AdditionalProperties.Schema != nil {
		o["additionalProperties"] = c.schema(s.AdditionalProperties.Schema, depth+1)
	}
}

// jsonMedia returns the JSON media type of a content map and its name, else that of "*/*" without a name.
func jsonMedia(content openapi3.Content) (string, *openapi3.MediaType) {
	if media := content["application/json"]; media != nil {
		return "application/json", media
	}
	var names []string
	for name := range content {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		bare, _, _ := strings.Cut(name, ";")
		bare = strings.ToLower(strings.TrimSpace(bare))
		if bare == "application/json" || bare == "text/json" || strings.HasSuffix(bare, "+json") {
			return bare, content[name]
		}
	}
	return "", content["*/*"]
}
