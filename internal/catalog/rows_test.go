package catalog

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// A row is one attack by a web descriptor with its expected fault.
type row struct{ name, source, want string }

// attack parses the descriptors. Each attack is rejected with a fault that names the place,
// quickly, because the limits apply before any expensive work.
func attack(t *testing.T, rows []row) {
	t.Helper()
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			_, err := Parse([]byte(r.source), Options{Origin: "https://example.com", Drivers: drivers(&recorder{}, "http")})
			e := aai.AsError(err)
			assert.Assert(t, e != nil, err)
			assert.Equal(t, e.Code, aai.DescriptorInvalid, err)
			assert.Assert(t, is.Contains(e.Message, r.want), err)
		})
	}
}

// siteWith returns a web descriptor with a replacement.
func siteWith(t *testing.T, old, replacement string) string {
	t.Helper()
	source := strings.Replace(webApp(""), old, replacement, 1)
	assert.Assert(t, source != webApp(""), "%s is not in the descriptor", old)
	return source
}

func withSchema(t *testing.T, schema string) string {
	return siteWith(t, `"parameters": {}`, `"parameters": `+schema)
}

func TestRow7HugeBody(t *testing.T) {
	attack(t, []row{
		{"spaces", webApp("") + strings.Repeat(" ", maxForeignBytes), "longer than 262144 bytes"},
		{"one string", siteWith(t, `"D"`, `"`+strings.Repeat("x", maxForeignBytes)+`"`), "longer than 262144 bytes"},
	})
}

func TestRow8DeepJSON(t *testing.T) {
	deep := func(n int) string { return strings.Repeat(`{"a":`, n) + `1` + strings.Repeat(`}`, n) }
	attack(t, []row{
		{"beside what is known", siteWith(t, `"version"`, `"x-deep": `+deep(1000)+`, "version"`), "nested more than 32 deep"},
		{"in a schema", withSchema(t, `{"default": `+deep(1000)+`}`), "the schema is nested more than 32 deep"},
		{"never closed", strings.Repeat(`[`, 100_000), "nested more than 32 deep"},
	})
}

func TestRow9ManyKeys(t *testing.T) {
	attack(t, []row{
		{"members", siteWith(t, `"version"`, `"x-many": {`+keys(maxForeignNodes)+`}, "version"`), "has more than 5000 values"},
		{"parameters", withSchema(t, `{"properties": {`+strings.ReplaceAll(keys(maxForeignNodes/2), ": 0", ": {}")+`}}`), "has more than 5000 values"},
	})
}

func TestRow10DuplicateKeys(t *testing.T) {
	attack(t, []row{
		{"a path twice", siteWith(t, `"path": "/t"`, `"path": "/t", "path": "/evil"`), `"path" is given twice`},
		{"by an escape", siteWith(t, `"path": "/t"`, `"path": "/t", "\u0070ath": "/evil"`), `"path" is given twice`},
		{"in two spellings", siteWith(t, `"base_url"`, `"baseUrl": "https://evil.example", "base_url"`), `both "baseUrl" and "base_url" are given`},
		{"in two places", siteWith(t, `"path": "/t"`, `"path": "/t", "execution": {"path": "/evil"}`), "is given here and at"},
		{"two auths", strings.Replace(webApp(`{"type": "bearer"}`), `"auth"`, `"auth": null, "auth"`, 1), `"auth" is given twice`},
	})
	// Keys that differ in case are other keys, and are ignored.
	d := mustParse(t, siteWith(t, `"path": "/t"`, `"path": "/t", "PATH": "/evil", "ſource": 1`), Options{Origin: "https://example.com"})
	assert.Check(t, is.Equal(d.Recipes[0].HTTP.Path, "/t"))
	assert.Check(t, is.Len(d.Warnings, 2))
}

func TestRow11SelfReference(t *testing.T) {
	attack(t, []row{
		{"itself", withSchema(t, `{"properties": {"a": {"$ref": "#/properties/a"}}}`), "leads back to itself"},
		{"the root", withSchema(t, `{"allOf": [{"$ref": "#"}]}`), "leads back to itself"},
		{"in a circle", withSchema(t, `{"definitions": {"a": {"$ref": "#/definitions/b"}, "b": {"$ref": "#/definitions/a"}}, "$ref": "#/definitions/a"}`), "leads back to itself"},
		{"of the result", siteWith(t, `"parameters": {}`, `"parameters": {}, "returns": {"not": {"$ref": "#"}}`), "leads back to itself"},
	})
}

func TestRow12Doubling(t *testing.T) {
	var definitions []string
	for i := range 200 {
		next := string(rune('a'+(i+1)%26)) + strings.Repeat("x", (i+1)/26)
		this := string(rune('a'+i%26)) + strings.Repeat("x", i/26)
		definitions = append(definitions, `"`+this+`": {"allOf": [{"$ref": "#/definitions/`+next+`"}, {"$ref": "#/definitions/`+next+`"}]}`)
	}
	last := `"` + string(rune('a'+200%26)) + strings.Repeat("x", 200/26) + `": {}`
	attack(t, []row{{"200 times", withSchema(t, `{"$ref": "#/definitions/a", "definitions": {`+strings.Join(definitions, ",")+`,`+last+`}}`), "has more than 10000 sub-schemas"}})
}

func TestRow13DeepSchemas(t *testing.T) {
	attack(t, []row{{"900 levels", withSchema(t, strings.Repeat(`{"properties": {"a": `, 900)+`{}`+strings.Repeat(`}}`, 900)), "the schema is nested more than 32 deep"}})
}

func TestRow14ReferencesElsewhere(t *testing.T) {
	attack(t, []row{
		{"a file", withSchema(t, `{"properties": {"a": {"$ref": "file:///etc/passwd"}}}`), "leaves the schema; only references that begin with #/ are allowed"},
		{"a page", withSchema(t, `{"properties": {"a": {"$ref": "http://169.254.169.254/latest"}}}`), "leaves the schema; only references that begin with #/ are allowed"},
		{"beside", withSchema(t, `{"properties": {"a": {"$ref": "other.json"}}}`), "leaves the schema; only references that begin with #/ are allowed"},
		{"another base", withSchema(t, `{"$id": "file:///etc/", "properties": {"a": {"$ref": "passwd"}}}`), "leaves the schema; only references that begin with #/ are allowed"},
	})
}

func TestRow15ReDoS(t *testing.T) {
	attack(t, []row{
		{"long", withSchema(t, `{"properties": {"a": {"pattern": "`+strings.Repeat("(a|b)*", 200)+`"}}}`), "the pattern has 1200 bytes, at most 512 are allowed"},
		{"look-ahead", withSchema(t, `{"properties": {"a": {"pattern": "(?=a)b"}}}`), "is not supported: RE2 has no"},
		{"repeated", withSchema(t, `{"properties": {"a": {"pattern": "((a{100}){100}){100}"}}}`), "invalid repeat count"},
	})
}

func TestRow16HeaderInjection(t *testing.T) {
	var rows []row
	for _, name := range []string{
		"Host", "content-length", "Transfer-Encoding", "Connection", "Authorization", "authorization", "Cookie", "Proxy-Authorization", "X-Forwarded-For", "Upgrade", "TE", "Trailer", "Forwarded",
	} {
		rows = append(rows,
			row{name, siteWith(t, `"base_url"`, `"default_headers": {"`+name+`": "x"}, "base_url"`), "is set by the gateway"},
			row{name + " of a tool", siteWith(t, `"path"`, `"headers": {"`+name+`": "x"}, "path"`), "is set by the gateway"})
	}
	for name, header := range map[string]string{"a line break": `"X-A": "a\r\nHost: evil"`, "a bare line feed": `"X-A": "a\nb"`, "a null": `"X-A": "a\u0000b"`} {
		rows = append(rows, row{name, siteWith(t, `"path"`, `"headers": {`+header+`}, "path"`), "has a line break"})
	}
	for name, header := range map[string]string{"a name with a line break": `"X\r\nY": "a"`, "a name with a colon": `"X:": "a"`, "no name": `"": "a"`} {
		rows = append(rows, row{name, siteWith(t, `"path"`, `"headers": {`+header+`}, "path"`), "is not the name of an HTTP header"})
	}
	attack(t, rows)
}

func TestRow17PathInjection(t *testing.T) {
	var rows []row
	for path, want := range map[string]string{
		"//evil.example/": "expected a path that begins with one", "https://evil.example/": "expected a path that begins with one", "t": "expected a path that begins with one",
		"/a/../../b": "a path without query", "/..": "a path without query", "/a?x=1": "a path without query", "/a#b": "a path without query", `/a\\b`: "a path without query",
		`/a\r\nHost: evil`: "a path without query", "/{none}": "which names no parameter", "/{a": `without "}"`,
	} {
		rows = append(rows, row{path, siteWith(t, `"/t"`, `"`+path+`"`), want})
	}
	attack(t, rows)
}
