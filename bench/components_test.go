package bench

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/audit"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/schema"
)

// oneApp is a catalog with one app, a gate that admits all calls and a journal that discards
// entries.
type oneApp struct{ app *aai.App }

func (c oneApp) Apps() []*aai.App                                          { return []*aai.App{c.app} }
func (c oneApp) Find(context.Context, string) (*aai.App, error)            { return c.app, nil }
func (oneApp) OnChange(func()) (stop func())                               { return func() {} }
func (oneApp) Check(context.Context, *aai.Request) ([]aai.Question, error) { return nil, nil }
func (oneApp) Record(context.Context, *aai.Entry) error                    { return nil }

// BenchmarkDo measures a call through the gateway alone: catalog, gate, journal and tool do
// nothing.
func BenchmarkDo(b *testing.B) {
	params := schema.MustParse(`{"type": "object", "required": ["v"], "additionalProperties": false,
		"properties": {"v": {"type": "string", "maxLength": 1000}, "format": {"enum": ["pdf", "html"], "default": "pdf"}}}`)
	parts := oneApp{&aai.App{ID: "org.example.App", Tools: []*aai.Tool{{
		Name: "echo", Params: params, Effect: aai.Reads,
		Run: func(_ context.Context, call *aai.Call) (*aai.Result, error) {
			return &aai.Result{Data: call.Args["v"]}, nil
		},
	}}}}
	gateway := &gateway.Gateway{Catalog: parts, Gates: []aai.Gate{parts}, Journal: parts}
	call := &aai.Call{
		Caller: aai.Caller{Door: aai.DoorMCP, Name: "bench"},
		App:    "org.example.App", Tool: "echo", Args: map[string]any{"v": "hello"},
	}
	b.ReportAllocs()
	for b.Loop() {
		_, err := gateway.Do(b.Context(), call)
		assert.NilError(b, err)
	}
}

// BenchmarkRecord measures one journal entry: an intent that is only written, and one that is
// flushed to disk.
func BenchmarkRecord(b *testing.B) {
	for _, c := range []struct {
		name   string
		effect aai.Effect
	}{{"Reads", aai.Reads}, {"Durable", aai.Changes}} {
		b.Run(c.name, func(b *testing.B) {
			j := audit.New(filepath.Join(b.TempDir(), "audit.jsonl"))
			b.Cleanup(func() { _ = j.Close() })
			entry := &aai.Entry{
				Kind: aai.Intent, Time: time.Now(), Call: "c0123456789abcde", App: "org.example.App", Tool: "echo",
				Target: "org.example.App", Admitted: true, Effect: c.effect, Durable: c.effect != aai.Reads, Consent: "preapproved", Args: map[string]any{"v": "hello"},
			}
			b.ReportAllocs()
			for b.Loop() {
				assert.NilError(b, j.Record(b.Context(), entry))
			}
		})
	}
}

// BenchmarkParse measures parsing one descriptor, from bytes to an app.
func BenchmarkParse(b *testing.B) {
	source := []byte(typicalDescriptor("org.example.App"))
	b.SetBytes(int64(len(source)))
	b.ReportAllocs()
	for b.Loop() {
		_, err := catalog.Parse(source, catalog.Options{HostPlatform: "linux"})
		assert.NilError(b, err)
	}
}
