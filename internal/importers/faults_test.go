package importers_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/importers"
)

// readFile imports a document of testdata/faults.
func readFile(t *testing.T, name string) *importers.ImportedAPI {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("testdata", "faults", name))
	assert.NilError(t, err)
	got := read(t, source, importers.OpenAPIOptions{Source: name, Driver: driver()})
	loadDocument(t, got.Text)
	return got
}

// toolNamed returns the tool of an import.
func toolNamed(t *testing.T, got *importers.ImportedAPI, name string) catalog.ToolDeclaration {
	t.Helper()
	tools := got.Document.Sections[0].Tools
	i := slices.IndexFunc(tools, func(d catalog.ToolDeclaration) bool { return d.Name == name })
	if i < 0 {
		t.Fatalf("no tool %s; left out: %+v", name, got.Skipped)
	}
	return tools[i]
}

// TestDanglingReference checks that a reference that leads nowhere costs only what it describes, and
// is named with its line.
func TestDanglingReference(t *testing.T) {
	got := readFile(t, "dangling_ref.json")
	assert.Check(t, is.Len(got.Skipped, 0), "left out: %+v", got.Skipped)
	inner := string(toolNamed(t, got, "inner").Params)
	assert.Check(t, is.Contains(inner, `"q":{"type":"string"}`), "a reference to a parameter of another path is lost: %s", inner)
	want := `line 1: paths["/bad"].post.requestBody.content["application/json"].schema.$ref: leads nowhere, to "#/components/schemas/Missing"; any value is accepted there`
	assert.Check(t, is.Contains(got.Notes, want))
}

// TestFaultCostsItsPart checks the parts that a fault costs, and the words about it.
func TestFaultCostsItsPart(t *testing.T) {
	for name, c := range map[string]struct{ paths, components, note, left string }{
		"a remote schema":   {`"/b": {"get": {"parameters": [{"name": "q", "in": "query", "schema": {"$ref": "https://evil.example/x.json"}}]}}`, "", `parameters[0].schema.$ref: leads out of the document, to "https://evil.example/x.json"; nothing else is opened`, ""},
		"a file":            {`"/b": {"get": {"parameters": [{"$ref": "file:///etc/passwd"}]}}`, "", "leads out of the document", ""},
		"a body nowhere":    {`"/b": {"post": {"requestBody": {"$ref": "#/components/requestBodies/B"}}}`, "", "the operations with this body are left out", "POST /b"},
		"a body in a ring":  {`"/b": {"post": {"requestBody": {"$ref": "#/components/requestBodies/B"}}}`, `"requestBodies": {"B": {"$ref": "#/components/requestBodies/B"}}`, "leads nowhere", "POST /b"},
		"no operation":      {`"/b": {"get": []}`, "", `line 3: paths["/b"].get: is a list; expected an object; it is left out`, ""},
		"a path of a kind":  {`"/b": 7`, "", `paths["/b"]: is a number; expected an object`, ""},
		"a wrong bound":     {`"/b": {"get": {"parameters": [{"name": "q", "in": "query", "schema": {"minimum": "low"}}]}}`, "", "schema.minimum: is a string; expected a number; it is left out", ""},
		"a list of schemas": {`"/b": {"get": {"parameters": [{"name": "q", "in": "query", "schema": {"items": [{}]}}]}}`, "", "schema.items: is a list; expected an object", ""},
		"a schema's ring":   {`"/b": {"get": {"parameters": [{"name": "q", "in": "query", "schema": {"$ref": "#/components/schemas/A"}}]}}`, `"schemas": {"A": {"$ref": "#/components/schemas/A"}}`, "leads nowhere", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := read(t, describing(taking("{}")+", "+c.paths, c.components), importers.OpenAPIOptions{Driver: driver()})
			toolNamed(t, got, "a")
			assert.Check(t, is.Contains(strings.Join(got.Notes, "\n"), c.note), "%q", got.Notes)
			left := ""
			for _, s := range got.Skipped {
				left += s.Operation
			}
			assert.Check(t, is.Equal(left, c.left), "left out %q, want %q", left, c.left)
		})
	}
}

// TestDefinitionsInSchema checks that the definitions inside a schema are found.
func TestDefinitionsInSchema(t *testing.T) {
	got := read(t, describing(taking(`{"type": "object", "$defs": {"N": {"type": "integer"}}, "properties": {"n": {"$ref": "#/$defs/N"}}}`), ""),
		importers.OpenAPIOptions{Driver: driver()})
	assert.Check(t, is.Contains(string(toolNamed(t, got, "a").Params), `"n":{"type":"integer"}`))
}

// TestLooseScalars checks that scalars are read as their member wants.
func TestLooseScalars(t *testing.T) {
	got := readFile(t, "number_for_text.yaml")
	assert.Check(t, is.Len(got.Notes, 0))
	tool := toolNamed(t, got, "a")
	assert.Check(t, is.Equal(tool.Description, "Deprecated. 12"))
	params := string(tool.Params)
	assert.Assert(t, is.Contains(params, `"q":{"minimum":1,"type":"integer"}`))
	assert.Assert(t, !strings.Contains(params, "required"), params)
	odd := readFile(t, "odd_forms_number_version.yaml")
	assert.Check(t, is.Equal(odd.Document.Version, "1.10"))
	words := string(toolNamed(t, odd, "yamlWords").Params)
	want := `"enum":["NO","SE","0123","1e3","0x1F","12:30:45",null,null]`
	assert.Check(t, strings.Contains(words, want) || strings.Contains(words, strings.Replace(want, ",null,null", ",null", 1)), "%s %s", words, want)
	assert.Check(t, is.Contains(words, `"enum":["on","off","yes","no","y","n"]`))
}

// TestYAMLForms checks merges, and numbers that JSON does not have.
func TestYAMLForms(t *testing.T) {
	source := "openapi: 3.0\ninfo: {title: A, version: 1}\nservers: [{url: 'https://a.example'}]\nx-big: .inf\n" +
		"x-get: &get {operationId: one, summary: Old}\npaths:\n  /a:\n    get:\n      <<: *get\n      summary: New\n" +
		"      parameters: [{name: n, in: query, schema: {type: integer, maximum: 0x1F}}]\n  /b: {get: 7}\n"
	got := read(t, []byte(source), importers.OpenAPIOptions{Driver: driver()})
	tool := toolNamed(t, got, "one")
	assert.Check(t, is.Equal(tool.Description, "New"))
	assert.Check(t, is.Contains(string(tool.Params), `"maximum":31`))
	assert.Check(t, is.Contains(got.Notes, `line 12: paths["/b"].get: is a number; expected an object; it is left out`))
}

// TestMethodInID checks that the method's name in an operation's id, where frameworks put it, does
// not count as a word of loss.
func TestMethodInID(t *testing.T) {
	got := readFile(t, "fastapi_effects.json")
	for tool, want := range map[string]aai.Effect{
		"create_item_items__post": aai.Changes, "read_items_items__get": aai.Reads, "search_search_post": aai.Changes,
		"update_item_items__put": aai.Changes, "list_posts": aai.Reads, "search": aai.Changes,
	} {
		effect := *toolNamed(t, got, tool).Effect
		assert.Check(t, is.Equal(effect, want), "%s is said to be %s, want %s", tool, effect, want)
	}
}

// TestHeadersOfGateway checks that a required header which the gateway sets itself costs nothing.
func TestHeadersOfGateway(t *testing.T) {
	got := readFile(t, "odd_forms_number_version.yaml")
	r := toolNamed(t, got, "userAgentRequired").Recipe
	assert.Check(t, slices.Equal(r.Params, []string{"X-Request-Id"}), "the parameters are %q", r.Params)
	i := slices.IndexFunc(got.Skipped, func(s answer.SkippedOperation) bool { return s.Operation == "QUERY /deprecated" })
	if i < 0 {
		t.Errorf("the method QUERY is not named: %+v", got.Skipped)
	}
}

// TestTwoKeys checks that a login by two keys at once is one login.
func TestTwoKeys(t *testing.T) {
	got := readFile(t, "two_keys.yaml")
	assert.Check(t, is.Len(got.Skipped, 0), "left out: %+v", got.Skipped)
	app := loadDocument(t, got.Text)
	want := []aai.KeyPlace{{In: "header", Name: "DD-API-KEY"}, {In: "header", Name: "DD-APPLICATION-KEY"}}
	keys := app.Site.Auth.Keys()
	assert.Check(t, slices.Equal(keys, want), "the keys are %+v", keys)
	assert.Check(t, toolNamed(t, got, "open").Recipe.HTTP.Public, "the public tool asks for a login")
}

// TestSeveralLogins checks that operations with another login or server than the rest are tools.
func TestSeveralLogins(t *testing.T) {
	got := readFile(t, "logins.yaml")
	assert.Assert(t, is.Len(got.Skipped, 1))
	assert.Equal(t, got.Skipped[0].Operation, "GET /certificate")
	app := loadDocument(t, got.Text)
	assert.Check(t, is.Equal(app.Site.Auth.Kind, aai.AuthBearer), "%+v", app.Site.Auth)
	assert.Check(t, is.Equal(app.Site.Auth.Login, ""), "%+v", app.Site.Auth)
	var further []string
	for _, h := range app.Site.Logins {
		further = append(further, h.Auth.Login+" "+h.Address())
	}
	want := []string{"admin https://api.two.example/v1", "other_example https://other.example", "session https://api.two.example/v1"}
	assert.Check(t, slices.Equal(further, want), "the further logins are %q, want %q", further, want)
	for tool, want := range map[string]string{
		"list": "https://api.two.example/v1/a", "upload": "https://upload.two.example/u", "elsewhere": "https://other.example/e",
		"share": "https://api.two.example/v1/a/{id}", "cancel": "https://api.two.example/v1/cancel?beta=true",
	} {
		h := toolNamed(t, got, tool).Recipe.HTTP
		at := h.Address() + h.Path
		for name, value := range h.Query {
			at += "?" + name + "=" + value
		}
		assert.Check(t, is.Equal(at, want), tool)
	}
	find := toolNamed(t, got, "find")
	if send := find.Recipe.HTTP.Send["kind"]; !slices.Equal(find.Recipe.Params, []string{"kind"}) || send.In != "" && send.In != "query" {
		t.Errorf("a parameter in the query of a path: %q %+v", find.Recipe.Params, send)
	}
}

// TestBodies checks the bodies that are neither JSON nor a plain form.
func TestBodies(t *testing.T) {
	got := readFile(t, "bodies.yaml")
	assert.Check(t, is.Len(got.Skipped, 0), "left out: %+v", got.Skipped)
	for tool, want := range map[string]struct {
		media  string
		params []string
		files  []string
	}{
		"upload":   {"multipart/form-data", []string{"file", "more", "note"}, []string{"file", "more"}},
		"optional": {"multipart/form-data", []string{"picture"}, []string{"picture"}},
		"binary":   {"application/octet-stream", []string{"file"}, []string{"file"}},
		"image":    {"application/octet-stream", []string{"file"}, []string{"file"}},
		"text":     {"text/plain", []string{"body"}, nil},
		"untyped":  {"application/xml", []string{"body"}, nil},
		"either":   {"application/x-www-form-urlencoded", []string{"a", "b"}, nil},
		"free":     {"application/x-www-form-urlencoded", []string{"body"}, nil},
	} {
		r := toolNamed(t, got, tool).Recipe
		assert.Check(t, is.Equal(r.HTTP.Headers["Content-Type"], want.media), tool)
		params := slices.Sorted(slices.Values(r.Params))
		assert.Check(t, slices.Equal(params, want.params), "%s takes %q, want %q", tool, params, want.params)
		var files []string
		for name, send := range r.HTTP.Send {
			if send.File {
				files = append(files, name)
			}
		}
		if slices.Sort(files); !slices.Equal(files, want.files) {
			t.Errorf("%s sends the files %q, want %q", tool, files, want.files)
		}
	}
	app := loadDocument(t, got.Text)
	call := &aai.Call{Args: map[string]any{"file": "/a", "more": []any{"/b", "result:c"}, "note": "n"}}
	files := app.Tool("upload").Assessment(call).ReadsFiles
	assert.Check(t, slices.Equal(files, []string{"/a", "/b", "result:c"}), "the gates learn of the files %q", files)
}

// TestSwagger checks that a document of Swagger 2.0 becomes tools.
func TestSwagger(t *testing.T) {
	got := readFile(t, "swagger2.yaml")
	assert.Check(t, is.Equal(got.Document.Sections[0].BaseURL, "https://pets.example/v2"))
	assert.Check(t, is.Len(got.Skipped, 0), "left out: %+v", got.Skipped)
	add := toolNamed(t, got, "addPet")
	params := string(add.Params)
	assert.Assert(t, is.Contains(params, `"required":["name"]`))
	assert.Assert(t, is.Contains(params, `"age":{"type":"integer"}`))
	find := toolNamed(t, got, "findPets").Recipe.HTTP
	send := find.Send["tags"]
	assert.Assert(t, send.Explode != nil, "the tags are sent as %+v", send)
	assert.Assert(t, !(*send.Explode), "the tags are sent as %+v", send)
	rename := toolNamed(t, got, "renamePet").Recipe.HTTP
	assert.Check(t, is.Equal(rename.Headers["Content-Type"], "application/x-www-form-urlencoded"), "the form is sent as %q", rename.Headers)
	assert.Check(t, slices.ContainsFunc(got.Notes, func(note string) bool { return strings.Contains(note, `"#/definitions/Nowhere"`) }), "notes %q", got.Notes)
}
