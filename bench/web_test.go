package bench

import (
	"crypto/x509"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/catalog/discovery"
	"github.com/gybob/aai-gateway/internal/netguard"
)

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
