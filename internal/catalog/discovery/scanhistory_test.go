package discovery_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gybob/aai-gateway/internal/catalog/discovery"
)

// A clients has servers that change, and counts the queries.
type clients struct {
	mu    sync.Mutex
	names []string
	looks atomic.Int64
}

func (c *clients) set(names ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.names = names
}

func (c *clients) servers(context.Context) (found []discovery.MCPServer, unread []string) {
	c.looks.Add(1)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range c.names {
		found = append(found, discovery.MCPServer{Client: "Zed", Name: name})
	}
	return found, nil
}

// markChanged returns the names of the new integrations of a report.
func markChanged(report *discovery.ScanReport) string {
	var all []string
	for _, w := range report.Integrations {
		if w.New {
			all = append(all, w.App)
		}
	}
	return strings.Join(all, " ")
}

// TestWatch checks that one of two gateways scans when due, and that integrations new since the
// first scan are logged and marked, for a week.
func TestWatch(t *testing.T) {
	file, c, log := filepath.Join(t.TempDir(), "data", "ways.json"), &clients{names: []string{"old"}}, &bytes.Buffer{}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		room := func() *discovery.Scanner {
			return discovery.NewScanner(discovery.ScannerConfig{Servers: c.servers, HistoryFile: file, Log: slog.New(slog.NewTextHandler(log, nil))})
		}
		for range 2 {
			go room().Watch(ctx, time.Hour)
		}
		time.Sleep(30 * time.Second)
		synctest.Wait()
		if c.looks.Load() != 0 {
			t.Error("a gateway that has just begun scans at once")
		}
		time.Sleep(30 * time.Minute)
		synctest.Wait()
		if got := c.looks.Load(); got != 1 {
			t.Errorf("%d scans in the first half hour", got)
		}
		c.set("old", "fresh")
		if report := room().Scan(ctx); markChanged(report) != "" || report.LastScan == nil {
			t.Errorf("before a scan has found it: %+v", report)
		}
		time.Sleep(10 * time.Hour)
		synctest.Wait()
		if got := c.looks.Load(); got != 1+1+10 {
			t.Errorf("%d looks, of which one was ours, in ten hours", got)
		}
		if got := markChanged(room().Scan(ctx)); got != "fresh" {
			t.Errorf("marked as new: %q", got)
		}
		if got := strings.Count(log.String(), "new integrations of apps were found"); got != 1 || !strings.Contains(log.String(), "fresh (mcp-server)") {
			t.Errorf("the log: %s", log)
		}
		time.Sleep(8 * 24 * time.Hour)
		synctest.Wait()
		if got := markChanged(room().Scan(ctx)); got != "" {
			t.Errorf("marked as new after a week: %q", got)
		}
		cancel()
		synctest.Wait()
	})
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the memory: %v, %v", info, err)
	}
}

// TestNoWatch checks that without an interval there is no scan and no file.
func TestNoWatch(t *testing.T) {
	file, c := filepath.Join(t.TempDir(), "ways.json"), &clients{}
	room := discovery.NewScanner(discovery.ScannerConfig{Servers: c.servers, HistoryFile: file, InitialDelay: 1})
	room.Watch(t.Context(), 0) // returns
	room.Scan(t.Context())
	if _, err := os.Stat(file); c.looks.Load() != 1 || !os.IsNotExist(err) {
		t.Errorf("%d looks; the memory: %v", c.looks.Load(), err)
	}
}

// TestBrokenMemory checks that an invalid history is replaced, and hides nothing.
func TestBrokenMemory(t *testing.T) {
	for _, text := range []string{"", "{", "[]", `{"ways": {"x": 7}}`, `{"scanned": "2026-01-01T00:00:00Z"}`, "\x00"} {
		file := filepath.Join(t.TempDir(), "ways.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c := &clients{names: []string{"a"}}
		if report := discovery.NewScanner(discovery.ScannerConfig{Servers: c.servers, HistoryFile: file}).Scan(t.Context()); len(report.Integrations) != 1 || markChanged(report) != "" {
			t.Errorf("with %q: %+v", text, report)
		}
	}
}

// TestMatched checks that a program with a descriptor is marked, by its service or its entry,
// also if its name contains a process number.
func TestMatched(t *testing.T) {
	report := look(t, discovery.ScannerConfig{
		Servers: func(context.Context) ([]discovery.MCPServer, []string) {
			return []discovery.MCPServer{{ID: "zed", Client: "Zed", Name: "org.example.A-12", Transport: "npx", File: "/f", Variables: []string{"TOKEN", "a=b", "x\x1b[1m", strings.Repeat("A", 100)}}, {Client: "Zed", Name: "other"}, {ID: "zed", Client: "Zed", Name: "taken|over"}}, []string{"/home/ann/.zed\x1b[31m"}
		},
		Apps: func(context.Context) []discovery.DescribedApp {
			return []discovery.DescribedApp{{ID: "app", Services: []string{"org.example.A"}}, {ID: "mcp.taken-over", Source: "client:zed/taken over"}}
		},
	})
	w := find(t, report, "mcp-server", "org.example.A-12")
	if w.CoveredBy != "app" || !strings.HasSuffix(w.HowTo, "To have it here too: aai-gateway import --from zed.") || strings.Join(w.Variables, " ") != "TOKEN" {
		t.Errorf("%+v", w)
	}
	if w := find(t, report, "mcp-server", "taken|over"); w.CoveredBy != "mcp.taken-over" {
		t.Errorf("%+v", w)
	}
	if w := find(t, report, "mcp-server", "other"); w.CoveredBy != "" {
		t.Errorf("%+v", w)
	}
	if len(report.Notes) != 1 {
		t.Errorf("notes: %q", report.Notes)
	}
}

// TestSlowSource checks that a slow source is named, and that a panic affects only its source.
func TestSlowSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		over := make(chan struct{})
		begun := time.Now()
		report := discovery.NewScanner(discovery.ScannerConfig{
			Servers: func(context.Context) ([]discovery.MCPServer, []string) { <-over; return nil, nil },
			Apps:    func(context.Context) []discovery.DescribedApp { panic("\x1b[31mboom") },
		}).Scan(t.Context())
		if len(report.Unresponsive) != 1 || report.Unresponsive[0] != "the clients' configurations" || len(report.Notes) != 1 {
			t.Errorf("%+v", report)
		}
		if took := time.Since(begun); took > discovery.DefaultScanTimeout {
			t.Errorf("it took %s by its own clock", took)
		}
		close(over)
		synctest.Wait()
	})
}
