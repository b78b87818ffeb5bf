package importers

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// addBody adds the body: each member as a parameter if it is a plain object, else the whole body
// as one.
func (a *arguments) addBody() (why string) {
	if a.op.RequestBody == nil || a.op.RequestBody.Value == nil || len(a.op.RequestBody.Value.Content) == 0 {
		return ""
	}
	body := a.op.RequestBody.Value
	media, found := chooseMedia(body.Content)
	switch {
	case a.op.method == http.MethodGet || a.op.method == http.MethodHead:
		if body.Required {
			return "it sends a body with " + a.op.method
		}
		return ""
	case found == nil:
		return ""
	}
	a.media, a.body = media, found
	if media != "application/json" {
		a.headers = map[string]string{"Content-Type": media}
	}
	switch {
	case media == formType || media == partsType:
		if a.addForm(found.Schema) {
			return ""
		}
	case isJSONType(media):
		shape := (&schemaConverter{schemaDetail: schemaDetail{depth: 1}}).schema(found.Schema, 0)
		if members, ok := plainMembers(shape); ok {
			a.addMembers(members, shape)
			return ""
		}
	}
	words := body.Description
	if words == "" {
		words = "The body of the request"
	}
	arg := argument{name: "body", required: body.Required, words: words, schema: found.Schema, send: &aai.SendRecipe{In: "body", Whole: true}}
	if arg.schema == nil && !isJSONType(media) {
		arg.schema = &openapi3.SchemaRef{Value: openapi3.NewStringSchema()}
	}
	if media != formType && media != partsType && !isJSONType(media) && (!isTextType(media) || isFile(arg.schema, 0)) {
		arg.name, arg.send.File = "file", true
	}
	arg.name = a.freeName(arg.name, "body")
	a.list = append(a.list, arg)
	return ""
}

const (
	formType  = "application/x-www-form-urlencoded"
	partsType = "multipart/form-data"
)

// chooseMedia returns the media type of the body to send: JSON, a form, or else the first one.
func chooseMedia(content openapi3.Content) (string, *openapi3.MediaType) {
	media, found := jsonMedia(content)
	switch {
	case found != nil && media == "":
		return "application/json", found
	case found != nil:
		return media, found
	}
	names := slices.Sorted(maps.Keys(content))
	for _, form := range []string{formType, partsType} {
		for _, name := range names {
			if bareType(name) == form {
				return form, content[name]
			}
		}
	}
	for _, name := range names {
		if content[name] == nil {
			continue
		}
		if bare := bareType(name); !strings.Contains(bare, "*") && sanitize.IsMediaType(bare) {
			return bare, content[name]
		}
		return "application/octet-stream", content[name]
	}
	return "", nil
}

// bareType returns a media type without parameters, in lower case.
func bareType(name string) string {
	bare, _, _ := strings.Cut(name, ";")
	return strings.ToLower(strings.TrimSpace(bare))
}

func isJSONType(media string) bool {
	return media == "application/json" || media == "text/json" || strings.HasSuffix(media, "+json")
}

// isTextType reports whether bodies of the type are texts that an agent can write.
func isTextType(media string) bool {
	for _, part := range []string{"text/", "xml", "yaml", "sdp", "graphql", "json", "javascript"} {
		if strings.Contains(media, part) {
			return true
		}
	}
	return false
}

// isFile reports whether a schema is that of a file, or of a list of files.
func isFile(ref *openapi3.SchemaRef, depth int) bool {
	if ref == nil || ref.Value == nil || depth > 8 {
		return false
	}
	s := ref.Value
	if s.Format == "binary" || s.Format == "file" || s.Type.Is("file") || s.ContentMediaType != "" && s.ContentEncoding == "" && s.Type.Is("string") {
		return true
	}
	for _, list := range []openapi3.SchemaRefs{s.AnyOf, s.OneOf, s.AllOf, {s.Items}} {
		if slices.ContainsFunc(list, func(one *openapi3.SchemaRef) bool { return isFile(one, depth+1) }) {
			return true
		}
	}
	return false
}

// addForm adds the fields of a form: those of all alternatives, since a form cannot say which one it
// is. It reports false if the document names none.
func (a *arguments) addForm(ref *openapi3.SchemaRef) bool {
	fields, required := make(map[string]*openapi3.SchemaRef), make(map[string]bool)
	collectFields(ref, fields, required, true, 0)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		schema := fields[name]
		arg := argument{name: a.freeName(name, "body"), required: required[name], schema: schema, send: &aai.SendRecipe{In: "body"}}
		if arg.name != name {
			arg.send.Name = name
		}
		arg.send.File = a.media == partsType && isFile(schema, 0)
		encoding := a.body.Encoding[name]
		switch {
		case encoding == nil:
		case a.media == partsType:
			if media := encoding.ContentType; !strings.ContainsAny(media, ",*") && sanitize.IsMediaType(media) {
				arg.send.Media = media
			}
		default:
			arg.send.Style, arg.send.Explode = encoding.Style, encoding.Explode
			if arg.send.Style == "form" {
				arg.send.Style = ""
			}
			if arg.send.Style == "deepObject" {
				arg.send.Explode = nil
			}
		}
		isObject := schema.Value != nil && !slices.ContainsFunc(typesOf(schema.Value), func(t string) bool { return t != "object" && t != "null" })
		if plain := (aai.SendRecipe{In: "body"}); *arg.send == plain && a.op.method != http.MethodDelete && !isObject {
			arg.send = nil
		}
		a.list = append(a.list, arg)
	}
	return len(fields) > 0
}

// collectFields collects the properties of a schema and its parts. A property of an alternative is
// not required.
func collectFields(ref *openapi3.SchemaRef, fields map[string]*openapi3.SchemaRef, required map[string]bool, always bool, depth int) {
	if ref == nil || ref.Value == nil || depth > 8 {
		return
	}
	s := ref.Value
	for name, field := range s.Properties {
		if field != nil && field.Value != nil && !field.Value.ReadOnly && fields[name] == nil {
			fields[name] = field
		}
	}
	for _, name := range s.Required {
		required[name] = required[name] || always
	}
	for _, part := range s.AllOf {
		collectFields(part, fields, required, always, depth+1)
	}
	for _, part := range slices.Concat(s.AnyOf, s.OneOf) {
		collectFields(part, fields, required, false, depth+1)
	}
}

// maxMembers limits the members of a body that become parameters.
const maxMembers = 150

// plainMembers returns the members of a schema that is a plain object.
func plainMembers(shape object) ([]string, bool) {
	properties, _ := shape["properties"].(object)
	for key, value := range shape {
		switch key {
		case "properties", "required", "description", "type":
		case "additionalProperties":
			if value != false {
				return nil, false
			}
		default:
			return nil, false
		}
	}
	if shape["type"] != "object" || len(properties) == 0 || len(properties) > maxMembers {
		return nil, false
	}
	return slices.Sorted(maps.Keys(properties)), true
}

// addMembers adds the members of the body. The body is always sent, so its required members are
// required even if the document does not require the body.
func (a *arguments) addMembers(members []string, shape object) {
	required, _ := shape["required"].([]string)
	for _, member := range members {
		arg := argument{name: a.freeName(member, "body"), required: slices.Contains(required, member),
			send: &aai.SendRecipe{In: "body"}}
		if arg.name != member {
			arg.send.Name = member
		}
		if a.op.method != http.MethodDelete && arg.send.Name == "" {
			arg.send = nil
		}
		a.list = append(a.list, arg)
	}
}
