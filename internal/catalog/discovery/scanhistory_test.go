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

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

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
		assert.Check(t, c.looks.Load() == 0, "a gateway that has just begun scans at once")
		time.Sleep(30 * time.Minute)
		synctest.Wait()
		got := c.looks.Load()
		assert.Check(t, got == 1, "%d scans in the first half hour", got)
		c.set("old", "fresh")
		report := room().Scan(ctx)
		assert.Check(t, is.Equal(markChanged(report), ""), "%+v", report)
		assert.Check(t, report.LastScan != nil, "before a scan has found it: %+v", report)
		time.Sleep(10 * time.Hour)
		synctest.Wait()
		got = c.looks.Load()
		assert.Check(t, got == 1+1+10, "%d looks, of which one was ours, in ten hours", got)
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
	info, err := os.Stat(file)
	assert.NilError(t, err, info)
	assert.Assert(t, info.Mode().Perm() == 0o600, "the memory: %v, %v", info, err)
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
		assert.NilError(t, os.WriteFile(file, []byte(text), 0o600))
		c := &clients{names: []string{"a"}}
		report := discovery.NewScanner(discovery.ScannerConfig{Servers: c.servers, HistoryFile: file}).Scan(t.Context())
		assert.Assert(t, is.Len(report.Integrations, 1), "%q %+v", text, report)
		assert.Equal(t, markChanged(report), "", "%q %+v", text, report)
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
	assert.Equal(t, w.CoveredBy, "app", "%+v", w)
	assert.Assert(t, strings.HasSuffix(w.HowTo, "To have it here too: aai-gateway import --from zed."), "%+v", w)
	assert.Equal(t, strings.Join(w.Variables, " "), "TOKEN", "%+v", w)
	w = find(t, report, "mcp-server", "taken|over")
	assert.Check(t, is.Equal(w.CoveredBy, "mcp.taken-over"), "%+v", w)
	w = find(t, report, "mcp-server", "other")
	assert.Check(t, is.Equal(w.CoveredBy, ""), "%+v", w)
	assert.Check(t, is.Len(report.Notes, 1))
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
		assert.Assert(t, is.Len(report.Unresponsive, 1), "%+v", report)
		assert.Equal(t, report.Unresponsive[0], "the clients' configurations", "%+v", report)
		assert.Assert(t, is.Len(report.Notes, 1), "%+v", report)
		took := time.Since(begun)
		assert.Check(t, took <= discovery.DefaultScanTimeout, "it took %s by its own clock", took)
		close(over)
		synctest.Wait()
	})
}
