package discovery_test

import (
	"bytes"
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/catalog/discovery"
)

// TestChanged checks that each integration of an app with a changed source is marked, with the
// command that regenerates it; an app without an integration gets one.
func TestChanged(t *testing.T) {
	report := look(t, discovery.ScannerConfig{
		Servers: func(context.Context) ([]discovery.MCPServer, []string) {
			return []discovery.MCPServer{{ID: "zed", Client: "Zed", Name: "tickets"}, {ID: "zed", Client: "Zed", Name: "other"}}, nil
		},
		Apps: func(context.Context) []discovery.DescribedApp {
			return []discovery.DescribedApp{{ID: "mcp.tickets", Source: "client:zed/tickets"}, {ID: "mcp.other", Source: "client:zed/other"}}
		},
		ChangedSources: func(context.Context) ([]discovery.SourceChange, []string) {
			return []discovery.SourceChange{
				{App: "mcp.tickets", Source: "client:zed/tickets", Digest: "d", RegenerateCommand: "aai-gateway import --from zed --server tickets"},
				{App: "com.example.shop", Source: "openapi:/shop.yaml", Digest: "d", RegenerateCommand: "aai-gateway import openapi /shop.yaml\x1b[31m"},
			}, []string{"what org.example.slow was made of"}
		},
	})
	w := find(t, report, "mcp-server", "tickets")
	assert.Assert(t, w.Changed, "%+v", w)
	assert.Equal(t, w.HowTo, "Its source has changed: aai-gateway import --from zed --server tickets shows its new descriptor.", "%+v", w)
	if w := find(t, report, "mcp-server", "other"); w.Changed {
		t.Errorf("one that is the same: %+v", w)
	}
	w = find(t, report, "source", "com.example.shop")
	assert.Assert(t, w.Changed, "%+v", w)
	assert.Equal(t, w.CoveredBy, "com.example.shop", "%+v", w)
	assert.Assert(t, is.Contains(w.Benefit, "openapi:/shop.yaml"), "%+v", w)
	assert.Assert(t, is.Contains(w.HowTo, "aai-gateway import openapi /shop.yaml"), "%+v", w)
	assert.Assert(t, is.Len(report.Unresponsive, 1), "%+v", report)
	assert.Assert(t, is.Len(report.Integrations, 3), "%+v", report)
}

// TestScanOfChanges checks that a running gateway reports each change of a source once, from the
// first scan on.
func TestScanOfChanges(t *testing.T) {
	file, log := filepath.Join(t.TempDir(), "ways.json"), &bytes.Buffer{}
	digest := "one"
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		room := discovery.NewScanner(discovery.ScannerConfig{
			HistoryFile: file, Log: slog.New(slog.NewTextHandler(log, nil)),
			ChangedSources: func(context.Context) ([]discovery.SourceChange, []string) {
				return []discovery.SourceChange{{App: "com.example.shop", Digest: digest}}, nil
			},
		})
		go room.Watch(ctx, time.Hour)
		said := func(want int) {
			t.Helper()
			time.Sleep(5*time.Hour + 30*time.Minute)
			synctest.Wait()
			got := strings.Count(log.String(), "sources of apps have changed")
			assert.Check(t, is.Equal(got, want), log)
			assert.Check(t, is.Contains(log.String(), "com.example.shop"), log)
		}
		said(1)
		digest = "two"
		said(2)
		cancel()
		synctest.Wait()
	})
}
