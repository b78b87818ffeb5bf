package importers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/gybob/aai-gateway"
)

// An argument is a parameter of a future tool.
type argument struct {
	name     string
	required bool
	words    string
	schema   *openapi3.SchemaRef // nil: a member of the body, or without a schema
	example  any
	send     *aai.SendRecipe // nil: the default place
}

// arguments lists the arguments of an operation, from all places of the request.
type arguments struct {
	maker   *apiConverter
	op      *operation
	path    string          // with parameters renamed to argument names
	login   *aai.AuthRecipe // nil: none is needed
	server  string          // base URL, if it is not the app's
	list    []argument
	headers map[string]string
	media   string // media type of the body; empty: no body
	body    *openapi3.MediaType
}

// collect collects the parameters and the body, or returns why no request can be built of them.
func (a *arguments) collect() (why string) {
	declared := make(map[string]*openapi3.Parameter)
	var order []string
	for _, list := range []openapi3.Parameters{a.op.item.Parameters, a.op.Parameters} {
		for _, ref := range list {
			if ref == nil || ref.Value == nil {
				continue
			}
			key := ref.Value.In + " " + ref.Value.Name
			if declared[key] == nil {
				order = append(order, key)
			}
			declared[key] = ref.Value
		}
	}
	slices.SortStableFunc(order, func(a, b string) int {
		rank := map[string]int{"path": -1}
		return rank[declared[a].In] - rank[declared[b].In]
	})
	for _, key := range order {
		if why := a.add(declared[key]); why != "" {
			return why
		}
	}
	for rest := a.op.route; ; {
		_, after, found := strings.Cut(rest, "{")
		name, behind, closed := strings.Cut(after, "}")
		if !found || !closed {
			break
		}
		rest = behind
		if declared["path "+name] == nil {
			if why := a.add(&openapi3.Parameter{Name: name, In: "path", Required: true}); why != "" {
				return why
			}
			declared["path "+name] = &openapi3.Parameter{}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(a.op.inQuery)) {
		if declared["path "+name] == nil && declared["query "+name] == nil {
			if why := a.add(&openapi3.Parameter{Name: name, In: "path", Required: true}); why != "" {
				return why
			}
		}
	}
	return a.addBody()
}

// add adds a parameter. An optional parameter that cannot be sent is omitted.
func (a *arguments) add(p *openapi3.Parameter) (why string) {
	if name := a.op.inQuery[p.Name]; name != "" && p.In == "path" {
		moved := *p
		moved.Name, moved.In, moved.Style, moved.Explode = name, "query", "", nil
		p = &moved
	}
	templated := strings.Contains(a.op.route, "{"+p.Name+"}")
	switch p.In {
	case "path":
		if !templated {
			return ""
		}
	case "header":
		switch strings.ToLower(p.Name) {
		case "accept", "content-type", "authorization", // the specification ignores them
			"user-agent", "host", "content-length", "accept-encoding", "connection": // the gateway sets them
			return ""
		}
	case "query", "cookie":
	default:
		return "its parameter " + quotedField(p.Name) + " is in " + quotedField(p.In) + ", which is no place of a request"
	}
	s := &aai.SendRecipe{In: p.In, Style: p.Style, Explode: p.Explode, Reserved: p.AllowReserved && p.In == "query"}
	arg := argument{required: p.Required || p.In == "path", words: p.Description, schema: p.Schema,
		example: p.Example, send: s}
	if len(p.Content) > 0 {
		media, found := jsonMedia(p.Content)
		if found == nil {
			return a.refuse(p, "is of a type that is not JSON")
		}
		_ = media
		s.Style, s.Explode, arg.schema = "json", nil, found.Schema
	}
	arg.name = a.freeName(p.Name, p.In)
	if arg.name != p.Name {
		s.Name = p.Name
	}
	if why := a.unsendable(arg, p.In); why != "" {
		return a.refuse(p, why)
	}
	if p.In == "path" && arg.name != p.Name {
		a.path = strings.ReplaceAll(a.path, "{"+p.Name+"}", "{"+arg.name+"}")
	}
	a.list = append(a.list, a.simplified(arg))
	return ""
}

// refuse omits an optional parameter, or returns why the operation is omitted.
func (a *arguments) refuse(p *openapi3.Parameter, why string) string {
	words := fmt.Sprintf("its parameter %s in the %s %s", quotedField(p.Name), p.In, why)
	if p.Required || p.In == "path" {
		return words
	}
	a.maker.note(a.op.words() + ": " + words + "; the tool is without it")
	return ""
}

// unsendable returns why the driver cannot send a parameter, or "".
func (a *arguments) unsendable(arg argument, in string) string {
	if a.maker.options.Driver == nil {
		return ""
	}
	path := "/"
	if in == "path" {
		path = "/{" + arg.name + "}"
	}
	_, err := a.maker.options.Driver.Compile(&aai.Recipe{
		App: "api.app", Tool: "tool", Platform: "web", Params: []string{arg.name},
		HTTP: &aai.HTTPRecipe{
			BaseURL: a.maker.section.BaseURL, Server: a.server, Path: path, Method: http.MethodGet, Auth: a.login,
			Send: map[string]aai.SendRecipe{arg.name: *arg.send},
		},
	})
	if err != nil {
		return "cannot be sent: " + aai.AsError(err).Message
	}
	return ""
}

// freeName returns an unused argument name in characters that models reproduce reliably.
func (a *arguments) freeName(name, in string) string {
	taken := func(name string) bool {
		return slices.ContainsFunc(a.list, func(other argument) bool { return other.name == name })
	}
	plain := nameOf(name)
	if plain == "" {
		plain = in
	}
	if len(plain) > maxTool {
		plain = plain[:maxTool]
	}
	free := plain
	for n := 2; taken(free); n++ {
		if n == 2 {
			free = plain + "_" + in
			continue
		}
		free = fmt.Sprintf("%s_%s_%d", plain, in, n)
	}
	return free
}

// simplified omits the parts of the argument's place that are the driver's defaults.
func (a *arguments) simplified(arg argument) argument {
	s := arg.send
	if s.Style == "form" && s.In != "path" || s.Style == "simple" && s.In != "query" {
		s.Style = ""
	}
	if s.Explode != nil && *s.Explode == (s.Style == "" && (s.In == "query" || s.In == "cookie")) {
		s.Explode = nil
	}
	usual := "body"
	switch a.op.method {
	case http.MethodGet, http.MethodHead, http.MethodDelete:
		usual = "query"
	}
	flat := true
	if arg.schema != nil && arg.schema.Value != nil {
		types := typesOf(arg.schema.Value)
		flat = len(types) > 0 && !slices.Contains(types, "object") && (!slices.Contains(types, "array") || s.In != "path")
	}
	if flat && s.Name == "" && s.Style == "" && s.Explode == nil && !s.Reserved && (s.In == usual || s.In == "path") {
		arg.send = nil
	}
	return arg
}

// schema returns the schema of the arguments, with as much detail as fits.
func (a *arguments) schema() (text json.RawMessage, why string) {
	slices.SortStableFunc(a.list, func(x, y argument) int {
		rank := func(arg argument) int {
			if arg.required {
				return 0
			}
			return 1
		}
		return rank(x) - rank(y)
	})
	for _, d := range details() {
		if text = a.schemaIn(d); len(text) <= maxParams && isReadableSchema(text) {
			return text, ""
		}
	}
	return nil, fmt.Sprintf("its parameters need a schema of %d bytes; expected at most %d", len(text), maxParams)
}

// maxChoice limits the enum of a parameter outside the body, at any detail.
const maxChoice = 150

// schemaIn returns the schema with the given detail.
func (a *arguments) schemaIn(d schemaDetail) json.RawMessage {
	var body map[string]any
	if a.body != nil {
		c := &schemaConverter{schemaDetail: d}
		body, _ = c.schema(a.body.Schema, 0)["properties"].(object)
	}
	var b bytes.Buffer
	var required []string
	b.WriteString(`{"type":"object","properties":{`)
	for i, arg := range a.list {
		one := object{}
		if arg.schema != nil {
			alone := d
			if alone.enum > 0 && (arg.send == nil || !arg.send.Whole) {
				alone.enum = max(alone.enum, maxChoice)
			}
			one = (&schemaConverter{schemaDetail: alone}).schema(arg.schema, 0)
		} else if o, ok := body[a.memberOf(arg)].(object); ok && (arg.send == nil || arg.send.In == "body") {
			one = o
		}
		if arg.send != nil && arg.send.File {
			one = fileSchema(one)
		}
		if words := firstWords(arg.words, max(d.words, 20)); words != "" && d.words > 0 {
			if tail, ok := one["description"].(string); ok && strings.Contains(tail, "(by default ") {
				words = strings.TrimRight(words, " .") + " " + tail[strings.LastIndex(tail, "(by default "):]
			}
			one["description"] = words
		}
		if arg.schema == nil && len(one) == 0 && strings.Contains(a.path, "{"+arg.name+"}") {
			one["type"] = "string"
		}
		if text, ok := scalarWords(arg.example); ok && d.words > 60 && len(text) <= 40 && one["enum"] == nil {
			if t, _ := one["type"].(string); t != "" && ofType(arg.example, []string{t}) {
				one["examples"] = []any{arg.example}
			}
		}
		if arg.required {
			required = append(required, arg.name)
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(asJSON(arg.name))
		b.WriteByte(':')
		b.Write(asJSON(one))
	}
	b.WriteString(`}`)
	if len(required) > 0 {
		b.WriteString(`,"required":`)
		b.Write(asJSON(required))
	}
	b.WriteString(`,"additionalProperties":false}`)
	return b.Bytes()
}

// fileSchema returns the schema of a parameter that names files. described is the schema of their
// content.
func fileSchema(described object) object {
	one := object{"type": "string", "description": "Absolute path of the file to send, or result:ID of a kept result"}
	words, _ := described["description"].(string)
	list := described["type"] == "array"
	if list {
		one = object{"type": "array", "items": one}
	}
	if words != "" {
		one["description"] = strings.TrimRight(words, ". ") + ". The absolute path of the file to send, or result:ID"
	}
	return one
}

func (a *arguments) memberOf(arg argument) string {
	if arg.send != nil && arg.send.Name != "" {
		return arg.send.Name
	}
	return arg.name
}

// asJSON encodes a value that was decoded from JSON.
func asJSON(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return []byte("{}")
	}
	return bytes.TrimSpace(b.Bytes())
}

// recipe returns the HTTP recipe of the operation's tool.
func (a *arguments) recipe() *aai.Recipe {
	r := &aai.Recipe{Platform: "web", HTTP: &aai.HTTPRecipe{
		BaseURL: a.maker.section.BaseURL, Server: a.server, Path: a.path, Query: a.op.fixed, Method: a.op.method, Headers: a.headers,
		Auth: a.login, Public: a.login == nil && a.maker.section.Auth != nil,
	}}
	for _, arg := range a.list {
		r.Params = append(r.Params, arg.name)
		if arg.send != nil {
			if r.HTTP.Send == nil {
				r.HTTP.Send = make(map[string]aai.SendRecipe)
			}
			r.HTTP.Send[arg.name] = *arg.send
		}
	}
	return r
}
