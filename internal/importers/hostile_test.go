package importers_test

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/importers"
)

// describing returns an OpenAPI document with these paths and components, of a web server.
func describing(paths, components string) []byte {
	return []byte(`{"openapi": "3.0.3", "info": {"title": "A", "version": "1.0.0"}, "servers": [{"url": "https://api.example.com"}],
		"paths": {` + paths + `}, "components": {` + components + `}}`)
}

// taking returns a path with an operation that takes and returns the schema.
func taking(schema string) string {
	return `"/a": {"post": {"operationId": "a", "requestBody": {"required": true, "content": {"application/json": {"schema": ` + schema + `}}},
		"responses": {"200": {"description": "d", "content": {"application/json": {"schema": ` + schema + `}}}}}}`
}

// TestHostileToolForm checks that each malicious source is rejected with an error that names the
// place, without a crash.
func TestHostileToolForm(t *testing.T) {
	bomb := "openapi: 3.0.3\nx-a: &a [x, x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c <= 'i'; c++ {
		bomb += fmt.Sprintf("x-%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c, ", c-1), 10), ", "))
	}
	many := make([]string, 100_000)
	for i := range many {
		many[i] = fmt.Sprintf(`"/p%d": {"get": {"responses": {}}}`, i)
	}
	for name, c := range map[string]struct {
		source []byte
		want   string
	}{
		"empty":                 {nil, "the document: is empty"},
		"no document":           {[]byte("hello"), "expected"},
		"a list":                {[]byte("- a"), "expected"},
		"cut off":               {[]byte(`{"openapi": "3.0.3", `), "the document: "},
		"no version":            {[]byte(`{"paths": {}}`), "openapi: missing"},
		"of another version":    {[]byte(`{"openapi": "4.0", "paths": {}}`), `openapi: is "4.0"`},
		"no paths":              {[]byte(`{"openapi": "3.0.0"}`), "paths: missing"},
		"paths that are none":   {[]byte(`{"openapi": "3.0.0", "paths": 7}`), "paths: missing or no object"},
		"nothing in it":         {describing("", ""), "paths: has no operation that can be a tool"},
		"50 MB":                 {[]byte(strings.Repeat(" ", 50<<20)), "the document: has 52428800 bytes or more; expected at most 25165824"},
		"deep":                  {[]byte(`{"openapi": "3.0.0", "paths": ` + strings.Repeat(`{"a":`, 5000) + `1` + strings.Repeat(`}`, 5000) + `}`), "nested more than 100 deep"},
		"deep YAML":             {[]byte("openapi: 3.0.0\npaths: " + strings.Repeat("[", 20000)), "the document: "},
		"many values":           {[]byte(`{"openapi": "3.0.0", "paths": {"/a": [` + strings.Repeat("1,", 900_000) + `1]}}`), "more than 800000 values"},
		"100,000 operations":    {describing(strings.Join(many, ","), ""), "paths: has 100000 operations; expected at most 20000"},
		"a YAML bomb":           {[]byte(bomb), "with its aliases followed the document has more than"},
		"a circle in YAML":      {[]byte("openapi: 3.0.0\npaths: &p\n  /a: *p\n"), "aliases"},
		"two documents":         {[]byte("openapi: 3.0.0\n---\nopenapi: 3.0.0\n"), "holds 2 documents"},
		"a name twice":          {[]byte(`{"openapi": "3.0.0", "paths": {}, "paths": {}}`), `the document: has "paths" twice`},
		"a path item elsewhere": {describing(`"/a": {"$ref": "paths/a.yaml"}`, ""), "paths: has no operation that can be a tool"},
		"references in a ring":  {describing(taking(`{"$ref": "#/components/schemas/A"}`), `"schemas": {"A": {"$ref": "#/components/schemas/B"}, "B": {"$ref": "#/components/schemas/A"}}`), ""},
		"http elsewhere":        {[]byte(strings.Replace(string(describing(taking(`{}`), "")), "https://api", "http://api", 1)), "servers[0].url: is \"http://api.example.com\", which is not encrypted"},
		"a server with a user":  {[]byte(strings.Replace(string(describing(taking(`{}`), "")), "https://api", "https://u:p@api", 1)), "servers[0].url: is"},
		"types that are none":   {describing(`"/a": 7`, ""), "paths: has no operation that can be a tool"},
		"methods that are none": {describing(`"/a": {"get": []}`, ""), "paths: has no operation that can be a tool"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := importers.ReadOpenAPI(c.source, importers.OpenAPIOptions{Driver: driver()})
			if err == nil {
				if name == "references in a ring" {
					loadDocument(t, got.Text)
					return
				}
				t.Fatalf("it became %d tools", got.Operations)
			}
			e, ok := err.(*aai.Error) //nolint:errorlint // the contract is this very type
			assert.Assert(t, ok, err)
			assert.Equal(t, e.Code, aai.InvalidParams, err)
			assert.Assert(t, is.Contains(e.Message, c.want), err)
			assert.Assert(t, len(e.Message) <= 700, err)
		})
	}
}

// TestOfThisComputer checks that a document from the web cannot create an app of this computer,
// unless the person names the server.
func TestOfThisComputer(t *testing.T) {
	for _, server := range []string{"http://127.0.0.1:8080", "https://localhost", "http://[::1]", "https://app.localhost"} {
		source := []byte(strings.Replace(string(describing(taking(`{}`), "")), "https://api.example.com", server, 1))
		_, err := importers.ReadOpenAPI(source, importers.OpenAPIOptions{Address: "https://api.example.com/openapi.json"})
		assert.Check(t, is.ErrorContains(err, "servers[0].url"), server)
	}
	source := []byte(strings.Replace(string(describing(taking(`{}`), "")), "https://api.example.com", "http://127.0.0.1:8080", 1))
	if got := read(t, source, importers.OpenAPIOptions{}); got.Document.ID != "api.A" && got.Document.ID != "api.a" {
		t.Errorf("got the id %q", got.Document.ID)
	}
}

// TestLies checks that recursive, contradictory or wrong schemas become schemas that accept all
// values the server may accept.
func TestLies(t *testing.T) {
	for name, c := range map[string]struct{ schema, components, args string }{
		"in a circle":           {`{"$ref": "#/components/schemas/Node"}`, `"schemas": {"Node": {"type": "object", "properties": {"next": {"$ref": "#/components/schemas/Node"}, "n": {"type": "integer"}}}}`, `{"next": {"next": {"n": 1}}}`},
		"in two circles":        {`{"$ref": "#/components/schemas/A"}`, `"schemas": {"A": {"type": "object", "properties": {"b": {"$ref": "#/components/schemas/B"}}}, "B": {"type": "array", "items": {"$ref": "#/components/schemas/A"}}}`, `{"b": [{"b": []}]}`},
		"all of itself":         {`{"$ref": "#/components/schemas/A"}`, `"schemas": {"A": {"allOf": [{"$ref": "#/components/schemas/A"}, {"type": "object", "properties": {"x": {}}}]}}`, `{"x": 1}`},
		"an unknown type":       {`{"type": "object", "properties": {"f": {"type": "file"}}}`, ``, `{"f": 1}`},
		"choices of no type":    {`{"type": "object", "properties": {"f": {"type": "string", "enum": [1, 2, 2]}}}`, ``, `{"f": 2}`},
		"null among choices":    {`{"type": "object", "properties": {"f": {"type": "string", "nullable": true, "enum": ["a"]}}}`, ``, `{"f": null}`},
		"bounds across":         {`{"type": "object", "properties": {"f": {"type": "integer", "minimum": 9, "maximum": 1}}}`, ``, `{"f": 5}`},
		"a pattern of others":   {`{"type": "object", "properties": {"f": {"type": "string", "pattern": "^(?!x)a$"}}}`, ``, `{"f": "b"}`},
		"one of two that fit":   {`{"type": "object", "properties": {"f": {"oneOf": [{"type": "number"}, {"type": "integer"}]}}}`, ``, `{"f": 1}`},
		"what is only answered": {`{"type": "object", "required": ["id", "n"], "properties": {"id": {"type": "integer", "readOnly": true}, "n": {"type": "string"}}}`, ``, `{"n": "x"}`},
		"required and unknown":  {`{"type": "object", "required": ["ghost"], "properties": {"n": {"type": "string"}}}`, ``, `{"n": "x"}`},
		"wide":                  {wide(120), ``, `{"p1": {"p1": "x"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			got := read(t, describing(taking(c.schema), c.components), importers.OpenAPIOptions{Driver: driver()})
			assert.Assert(t, is.Len(got.Skipped, 0), "left out: %+v", got.Skipped)
			args := decoded(t, c.args)
			if _, whole := got.Document.Sections[0].Tools[0].Recipe.HTTP.Send["body"]; whole {
				args = map[string]any{"body": args}
			}
			if _, err := loadDocument(t, got.Text).Tool("a").Params.Check(args); err != nil {
				t.Errorf("%s is refused: %v\n%s", c.args, err, got.Document.Sections[0].Tools[0].Params)
			}
		})
	}
}

// wide returns a schema of n members of n members with n letters each.
func wide(n int) string {
	inner := make([]string, n)
	for i := range inner {
		inner[i] = fmt.Sprintf(`"p%d": {"type": "string", "description": "%s"}`, i, strings.Repeat("w", n))
	}
	middle := `{"type": "object", "properties": {` + strings.Join(inner, ",") + `}}`
	for i := range inner {
		inner[i] = fmt.Sprintf(`"p%d": %s`, i, middle)
	}
	return `{"type": "object", "properties": {` + strings.Join(inner, ",") + `}}`
}
