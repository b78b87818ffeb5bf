package mcp_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
)

// madeSchemas are schemas as libraries make them, with values and the verdict of another validator;
// scripts/make-schemas makes them.
const madeSchemas = "testdata/schemas/made.json"

type madeSchema struct {
	From, Name     string
	Schema         json.RawMessage
	Valid, Invalid []map[string]any
}

func readMadeSchemas(file string) (all []madeSchema, err error) {
	b, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(b, &all)
	}
	return all, err
}

// tool is the name of the tool with the schema.
func (s madeSchema) tool() string { return s.From + "/" + s.Name }

// Every tool of a server is offered, whatever library made its schema. Valid arguments reach the server
// unchanged; invalid ones are refused here, or by the server where the guide says so.
func TestSchemasOfLibraries(t *testing.T) {
	w := newWorld(t)
	file, err := filepath.Abs(madeSchemas)
	assert.NilError(t, err)
	app := w.hostile(t, "schemas", file)
	w.start(t, app)
	all, err := readMadeSchemas(file)
	assert.NilError(t, err, "%d", len(all))
	assert.Assert(t, len(all) >= 35, "%d schemas, %v", len(all), err)
	refused, passed := 0, 0
	for _, s := range all {
		name := strings.NewReplacer("/", "_", " ", "_").Replace(s.tool())
		tool := w.tool(t, app, name)
		if tool == nil {
			t.Errorf("%s is not offered", s.tool())
			continue
		}
		for _, args := range s.Valid {
			r, e := w.call(t, app, name, args)
			want, _ := json.Marshal(args)
			if e != nil || r.Text != s.tool()+" "+string(want) {
				t.Errorf("%s: %s: %+v, %v", s.tool(), want, r, e)
			}
		}
		for _, args := range s.Invalid {
			_, e := w.call(t, app, name, args)
			switch {
			case e != nil && e.Code == aai.InvalidParams:
				refused++
			case e != nil:
				t.Errorf("%s: %v: %v", s.tool(), args, e)
			case len(tool.Params.Unchecked) == 0 && !strings.Contains(string(tool.Params.Source), `"format"`):
				t.Errorf("%s: %v is passed on, and the guide does not say why", s.tool(), args)
			default:
				passed++
			}
		}
	}
	t.Logf("of the invalid arguments %d were refused, %d passed on", refused, passed)
	assert.Check(t, refused >= 40, "only %d invalid arguments were refused", refused)
}
