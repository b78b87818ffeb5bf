package gui_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/gui"
	"github.com/gybob/aai-gateway/internal/schema"
)

// keepsItsWord validates a result against the tool's Returns, for every result of every test. An
// undocumented field is an error, too.
func (w *world) keepsItsWord(call *aai.Call, result *aai.Result) {
	w.Helper()
	tool := w.app.Tool(call.Tool)
	if tool == nil || tool.Returns.Source == nil {
		return
	}
	strict := bytes.Replace(tool.Returns.Source, []byte(`{"type": "object",`), []byte(`{"type": "object", "additionalProperties": false,`), 1)
	promised, err := schema.Parse(strict)
	if err != nil {
		w.Fatalf("%s: %v", call.Tool, err)
	}
	b, err := json.Marshal(result.Data)
	if err != nil {
		w.Fatalf("%s: %v", call.Tool, err)
	}
	var data any
	if err := json.Unmarshal(b, &data); err != nil {
		w.Fatalf("%s: %v", call.Tool, err)
	}
	if _, err := promised.Check(data); err != nil {
		w.Errorf("%s %v returned %.300s: %v", call.Tool, call.Args, b, err)
	}
}

// TestReturnsHaveOneTypeEach checks that the schemas of results are of a form that every client
// understands: one type each, and no references.
func TestReturnsHaveOneTypeEach(t *testing.T) {
	for _, tool := range gui.New(gui.Config{}).Tools {
		if tool.Returns.Source == nil {
			continue
		}
		var said struct {
			Type       string
			Properties map[string]map[string]any
		}
		err := json.Unmarshal(tool.Returns.Source, &said)
		assert.NilError(t, err, "%s %s", tool.Name, tool.Returns.Source)
		assert.Equal(t, said.Type, "object", "%s %s", tool.Name, tool.Returns.Source)
		assert.Assert(t, len(said.Properties) != 0, "%s %s", tool.Name, tool.Returns.Source)
		for name, property := range said.Properties {
			_, one := property["type"].(string)
			assert.Check(t, one, "%s: %s has no type of its own", tool.Name, name)
		}
	}
}

// A waiting caller gets progress.
func TestWaitingIsHeardOf(t *testing.T) {
	inWorld(t, func(w *world) {
		w.d.Program("Editor").Window("Untitled").Button("Save", func() {})
		var heard []string
		ctx := gateway.WithProgress(w.Context(), func(done, total float64, message string) {
			heard = append(heard, fmt.Sprintf("%v/%v %s", done, total, message))
		})
		_, err := w.doBy(ctx, "ax_wait_idle", `{"app": "Editor", "timeout_ms": 5000, "poll_ms": 1200}`)
		assert.Assert(w, err == nil, err)
		assert.Check(w, is.Equal(fmt.Sprint(heard), "[0.5/5 Not quiet yet, 0 events 1/5 Not quiet yet, 0 events]"), "%q", heard)
	})
}
