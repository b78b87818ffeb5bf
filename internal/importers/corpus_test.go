package importers_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/goccy/go-yaml"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/importers"
)

// A document is a public document of others.
type document struct {
	left int // skipped operations
	// refused is the number of requests that its own schema can never allow, or allows in several forms
	// instead of one: "additionalProperties": false beside "allOf", and "oneOf" of overlapping schemas. It
	// also counts bodies of a type that the validator does not know.
	refused int
}

// corpus returns public documents by their path below .cache/openapi.
func corpus() map[string]document {
	return map[string]document{
		"octokit-openapi-23.0.2/package/generated/api.github.com.json":        {refused: 3},
		"shipengine-openapi-1.4.0/package/openapi.json":                       {refused: 7},
		"shipengine-openapi-1.4.0/package/openapi.yaml":                       {refused: 7},
		"blockfrost-openapi-0.1.93/package/openapi.yaml":                      {refused: 2},
		"digdir-dialogporten-schema-1.40.0/package/swagger.verified.json":     {},
		"shipengine-connect-fulfillment-provider-api-4.6.0/package/spec.yaml": {},
		"shipengine-connect-fulfillment-provider-api-4.6.0/package/spec.json": {},
	}
}

// TestCorpus checks real documents: each operation is a tool or is skipped with a reason, as
// counted by another parser; the descriptor passes lint; and the request of a tool with the
// guide's example arguments is valid by the document, as checked by another validator.
func TestCorpus(t *testing.T) {
	for file, want := range corpus() {
		t.Run(strings.ReplaceAll(file, "/", " "), func(t *testing.T) {
			source, err := os.ReadFile(filepath.Join("../../.cache/openapi", file))
			assert.NilError(t, err, "bring the documents: scripts/need-openapi (make test does): %v", err)
			o := importers.OpenAPIOptions{Source: file, Server: "https://api.example.com/base", Driver: driver()}
			got := read(t, source, o)
			if n := operationsIn(t, source); got.Operations != n || len(tools(got))+len(got.Skipped) != n {
				t.Errorf("%d tools and %d left out of %d operations; another counts %d", len(tools(got)), len(got.Skipped), got.Operations, n)
			}
			assert.Check(t, is.Len(got.Skipped, want.left), "left out: %+v", got.Skipped)
			app := loadDocument(t, got.Text)
			sent, allowed := checkAgainstDocument(t, source, got, app)
			t.Logf("%d operations, %d tools, %d left out, %d KB; %d requests by the guide's examples, %d as the document allows",
				got.Operations, len(app.Tools), len(got.Skipped), len(got.Text)>>10, sent, allowed)
			assert.Check(t, sent != 0, "of %d requests the document allows %d, want all but %d", sent, allowed, want.refused)
			assert.Check(t, is.Equal(sent-allowed, want.refused), "%d %d", sent, allowed)
		})
	}
}

// TestYAMLAsJSON checks that an API in both forms gives the same app.
func TestYAMLAsJSON(t *testing.T) {
	var texts []string
	for _, name := range []string{"openapi.json", "openapi.yaml"} {
		source, err := os.ReadFile(filepath.Join("../../.cache/openapi/shipengine-openapi-1.4.0/package", name))
		assert.NilError(t, err, "bring the documents: scripts/need-openapi (make test does): %v", err)
		got := read(t, source, importers.OpenAPIOptions{Source: "spec", Server: "https://api.example.com"})
		got.Document.Generated = nil
		text, err := got.Document.Marshal()
		assert.NilError(t, err)
		texts = append(texts, string(text))
	}
	assert.Check(t, is.DeepEqual(texts[0], texts[1]))
}

func tools(got *importers.ImportedAPI) []catalog.ToolDeclaration {
	return got.Document.Sections[0].Tools
}

// operationsIn counts the operations of a document with another parser.
func operationsIn(t *testing.T, source []byte) (n int) {
	source = bytes.TrimPrefix(source, []byte("\xef\xbb\xbf"))
	var doc struct {
		Paths map[string]map[string]any `yaml:"paths" json:"paths"`
	}
	var err error
	if bytes.HasPrefix(bytes.TrimSpace(source), []byte("{")) {
		err = json.Unmarshal(source, &doc)
	} else {
		err = yaml.Unmarshal(source, &doc)
	}
	assert.NilError(t, err)
	for _, item := range doc.Paths {
		for _, method := range []string{"get", "head", "post", "put", "patch", "delete", "options", "trace"} {
			if item[method] != nil {
				n++
			}
		}
	}
	return n
}

// checkAgainstDocument runs each tool with the guide's example arguments, against a server that
// validates the request by the document.
func checkAgainstDocument(t *testing.T, source []byte, got *importers.ImportedAPI, app *aai.App) (sent, allowed int) {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(bytes.TrimPrefix(source, []byte("\xef\xbb\xbf")))
	assert.NilError(t, err)
	paths := judgedPaths(doc)
	var mu sync.Mutex
	var refused []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		r.URL.Scheme, r.URL.Host, r.Host = "https", "api.example.com", "api.example.com"
		route, params, err := routeOf(doc, paths, r)
		if err == nil {
			err = openapi3filter.ValidateRequest(context.Background(), &openapi3filter.RequestValidationInput{
				Request: r, PathParams: params, Route: route, Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, SkipSettingDefaults: true},
			})
		}
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			refused = append(refused, r.Method+" "+r.URL.String()+" "+string(body)+": "+err.Error())
		} else {
			allowed++
		}
	}))
	defer server.Close()
	examples := examplesOf(t, app)
	picture := filepath.Join(t.TempDir(), "picture.bin")
	assert.NilError(t, os.WriteFile(picture, []byte("\x00\x01"), 0o600))
	at, err := url.Parse(server.URL)
	assert.NilError(t, err)
	for _, tool := range tools(got) {
		args, known := examples[tool.Name]
		if !known {
			continue
		}
		recipe := *tool.Recipe
		request := *recipe.HTTP
		request.BaseURL, request.Server, request.Auth = at.String()+"/base", "", nil
		recipe.HTTP = &request
		action, err := driver().Compile(&recipe)
		if err != nil {
			t.Errorf("%s: %v", tool.Name, err)
			continue
		}
		for name, send := range request.Send {
			if send.File && args[name] != nil {
				args[name] = picture
			}
		}
		sent++
		_, err = action(t.Context(), &aai.Call{Args: args})
		assert.Check(t, err, "%s %v", tool.Name, args)
	}
	for i, why := range refused {
		if i < 12 {
			t.Logf("refused: %.600s", why)
		}
	}
	return sent, allowed
}

// A judgedPath is a path of the document.
type judgedPath struct {
	path    string
	item    *openapi3.PathItem
	pattern *regexp.Regexp
	names   []string
}

func judgedPaths(doc *openapi3.T) []judgedPath {
	var all []judgedPath
	braces := regexp.MustCompile(`\{([^{}]*)\}`)
	for path, item := range doc.Paths.Map() {
		p := judgedPath{path: path, item: item}
		pattern, rest := "^", path
		for _, at := range braces.FindAllStringSubmatchIndex(path, -1) {
			before, _, _ := strings.Cut(rest, "{")
			pattern += regexp.QuoteMeta(before) + "([^/]+)"
			rest = path[at[1]:]
			p.names = append(p.names, path[at[2]:at[3]])
		}
		p.pattern = regexp.MustCompile(pattern + regexp.QuoteMeta(rest) + "$")
		all = append(all, p)
	}
	// Of several matches the one with the fewest placeholders counts.
	slices.SortFunc(all, func(a, b judgedPath) int {
		return cmp.Or(len(a.names)-len(b.names), strings.Compare(a.path, b.path))
	})
	return all
}

// routeOf returns the document's operation for a request, and the values of the path's
// placeholders.
func routeOf(doc *openapi3.T, paths []judgedPath, r *http.Request) (*routers.Route, map[string]string, error) {
	got := strings.TrimPrefix(r.URL.EscapedPath(), "/base")
	for _, p := range paths {
		op, parts := p.item.GetOperation(r.Method), p.pattern.FindStringSubmatch(got)
		if op == nil || parts == nil {
			continue
		}
		values := make(map[string]string)
		for i, name := range p.names {
			value, err := url.PathUnescape(parts[i+1])
			if err != nil {
				return nil, nil, err
			}
			values[name] = value
		}
		return &routers.Route{Spec: doc, Path: p.path, PathItem: p.item, Method: r.Method, Operation: op}, values, nil
	}
	return nil, nil, errors.New("the document has no such operation")
}

// examplesOf returns the guide's example arguments, by tool.
func examplesOf(t *testing.T, app *aai.App) map[string]map[string]any {
	t.Helper()
	source, err := json.Marshal(catalog.GuideData(app))
	assert.NilError(t, err)
	var guide struct {
		Operations []struct {
			Name    string
			Example json.RawMessage
		}
	}
	assert.NilError(t, json.Unmarshal(source, &guide))
	examples := make(map[string]map[string]any)
	for _, o := range guide.Operations {
		if o.Example != nil {
			examples[o.Name] = decoded(t, string(o.Example))
		}
	}
	return examples
}
