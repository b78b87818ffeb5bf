package gui_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

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
		if err := json.Unmarshal(tool.Returns.Source, &said); err != nil || said.Type != "object" || len(said.Properties) == 0 {
			t.Errorf("%s: %v, %s", tool.Name, err, tool.Returns.Source)
		}
		for name, property := range said.Properties {
			if _, one := property["type"].(string); !one {
				t.Errorf("%s: %s has no type of its own", tool.Name, name)
			}
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
		if _, err := w.doBy(ctx, "ax_wait_idle", `{"app": "Editor", "timeout_ms": 5000, "poll_ms": 1200}`); err != nil {
			w.Fatal(err)
		}
		if want := "[0.5/5 Not quiet yet, 0 events 1/5 Not quiet yet, 0 events]"; fmt.Sprint(heard) != want {
			w.Errorf("heard %q", heard)
		}
	})
}
