package ways_test

import (
	"bytes"
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"aai/internal/discovery/ways"
)

// TestChanged: an app whose source says something else by now is marked at each way to its
// program, with the command that offers it again; one to which there is no way gets one.
func TestChanged(t *testing.T) {
	report := look(t, ways.Config{
		Servers: func(context.Context) ([]ways.Server, []string) {
			return []ways.Server{{ID: "zed", Client: "Zed", Name: "tickets"}, {ID: "zed", Client: "Zed", Name: "other"}}, nil
		},
		Apps: func(context.Context) []ways.App {
			return []ways.App{{ID: "mcp.tickets", From: "client:zed/tickets"}, {ID: "mcp.other", From: "client:zed/other"}}
		},
		Changed: func(context.Context) ([]ways.Change, []string) {
			return []ways.Change{
				{App: "mcp.tickets", From: "client:zed/tickets", Digest: "d", Again: "aai-gateway import --from zed --server tickets"},
				{App: "com.example.shop", From: "openapi:/shop.yaml", Digest: "d", Again: "aai-gateway import openapi /shop.yaml\x1b[31m"},
			}, []string{"what org.example.slow was made of"}
		},
	})
	w := find(t, report, "mcp-server", "tickets")
	if !w.Changed || w.Get != "What it was made of says something else by now: aai-gateway import --from zed --server tickets shows what would be made of it." {
		t.Errorf("%+v", w)
	}
	if w := find(t, report, "mcp-server", "other"); w.Changed {
		t.Errorf("one that is the same: %+v", w)
	}
	w = find(t, report, "source", "com.example.shop")
	if !w.Changed || w.Covered != "com.example.shop" || !strings.Contains(w.Gains, "openapi:/shop.yaml") || !strings.Contains(w.Get, "aai-gateway import openapi /shop.yaml") {
		t.Errorf("%+v", w)
	}
	if len(report.Silent) != 1 || len(report.Ways) != 3 {
		t.Errorf("%+v", report)
	}
}

// TestScanOfChanges: a running gateway says once, of each thing that a source says, that it has
// changed, from the first scan on.
func TestScanOfChanges(t *testing.T) {
	file, log := filepath.Join(t.TempDir(), "ways.json"), &bytes.Buffer{}
	digest := "one"
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		room := ways.New(ways.Config{
			Memory: file, Log: slog.New(slog.NewTextHandler(log, nil)),
			Changed: func(context.Context) ([]ways.Change, []string) {
				return []ways.Change{{App: "com.example.shop", Digest: digest}}, nil
			},
		})
		go room.Watch(ctx, time.Hour)
		said := func(want int) {
			t.Helper()
			time.Sleep(5*time.Hour + 30*time.Minute)
			synctest.Wait()
			if got := strings.Count(log.String(), "what apps were made of has changed"); got != want || !strings.Contains(log.String(), "com.example.shop") {
				t.Errorf("said %d times; want %d:\n%s", got, want, log)
			}
		}
		said(1)
		digest = "two"
		said(2)
		cancel()
		synctest.Wait()
	})
}
