package bench

import (
	"context"
	"crypto/x509"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/audit"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/catalog/discovery"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/netguard"
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

// BenchmarkDiscover measures finding a web app: in memory, like every call of a running gateway;
// in the cache on disk, like the first call of a process, with a limit of one millisecond; and at
// the site itself, on this computer.
func BenchmarkDiscover(b *testing.B) {
	site := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, twentyTools())
	}))
	b.Cleanup(site.Close)
	authority := x509.NewCertPool()
	authority.AddCert(site.Certificate())
	host := site.Listener.Addr().String()
	client := netguard.New(netguard.Config{AllowPrivate: []string{host}, RootCAs: authority})
	b.Cleanup(client.Close)

	folder := b.TempDir()
	gateway := func(cache string) *discovery.WebCatalog {
		local := catalog.New(catalog.Config{HostPlatform: "linux"})
		local.Apps()
		return discovery.NewWebCatalog(discovery.WebConfig{LocalCatalog: local, Client: client, Cache: cache, Names: filepath.Join(folder, "names.json")})
	}
	find := func(b *testing.B, web *discovery.WebCatalog) {
		app, err := web.Find(b.Context(), "https://"+host)
		assert.NilError(b, err, app)
		assert.Assert(b, len(app.Tools) != 0, app)
	}
	cache := filepath.Join(folder, "cache")
	known := gateway(cache)
	find(b, known)

	b.Run("Memory", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			find(b, known)
		}
	})
	b.Run("Disk", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			b.StopTimer()
			fresh := gateway(cache)
			b.StartTimer()
			find(b, fresh)
		}
	})
	b.Run("Site", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			b.StopTimer()
			fresh := gateway(filepath.Join(b.TempDir(), "none"))
			b.StartTimer()
			find(b, fresh)
		}
	})
}

// twentyTools returns a site's aai.json with twenty tools.
func twentyTools() string {
	tool := `{"name": "tool_NN", "description": "Does a thing that is told in a sentence of usual length.",
		"execution": {"path": "/things/{id}", "method": "POST"},
		"parameters": {"type": "object", "required": ["id"], "properties": {"id": {"type": "string", "description": "Which thing"},
			"limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10}, "title": {"type": "string", "maxLength": 200}}}}`
	var tools []string
	for i := range 20 {
		tools = append(tools, strings.Replace(tool, "NN", string(rune('a'+i)), 1))
	}
	return `{"schema_version": "1.0", "version": "1.0.0", "platform": "web",
		"app": {"id": "com.example.things", "name": "Things", "description": "Keeps things."},
		"execution": {"type": "http", "base_url": "https://api.example.com/v1"}, "tools": [` + strings.Join(tools, ",") + `]}`
}
