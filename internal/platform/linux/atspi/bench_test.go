//go:build linux

package atspi_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/linux/atspi"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// page writes a web page with many elements, and returns its address.
func page(b *testing.B, buttons int) string {
	b.Helper()
	var text strings.Builder
	text.WriteString("<!doctype html><title>many buttons</title>")
	for n := range buttons {
		fmt.Fprintf(&text, "<button>Button %d</button> <label>Field %d <input value=%d></label>\n", n, n, n)
	}
	file := filepath.Join(b.TempDir(), "page.html")
	assert.NilError(b, os.WriteFile(file, []byte(text.String()), 0o600))
	return "file://" + file
}

// programs returns functions that start the measured apps.
func programs() map[string]func(b *testing.B, w *world) *linuxtest.App {
	return map[string]func(b *testing.B, w *world) *linuxtest.App{
		"mousepad": func(b *testing.B, w *world) *linuxtest.App { return w.Launch(b, "mousepad") },
		"calculator": func(b *testing.B, w *world) *linuxtest.App {
			return w.LaunchEnv(b, []string{"GSK_RENDERER=cairo"}, "gnome-calculator")
		},
		"designer": func(b *testing.B, w *world) *linuxtest.App { return w.Launch(b, "/usr/lib/qt6/bin/designer") },
		"calc":     func(b *testing.B, w *world) *linuxtest.App { return w.Calc(b) },
		"chromium": func(b *testing.B, w *world) *linuxtest.App {
			return w.Launch(b, "chromium", "--force-renderer-accessibility", "--no-sandbox", "--no-first-run", "--test-type", "--disable-gpu",
				"--disable-dev-shm-usage", "--password-store=basic", "--user-data-dir="+b.TempDir(), page(b, 240))
		},
	}
}

// percentile measures the duration of a call.
func percentile(b *testing.B, call func()) {
	b.Helper()
	var took []time.Duration
	for b.Loop() {
		start := time.Now()
		call()
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkSnapshot measures four cases: cold reads everything on an open connection; warm repeats it
// without any change; read reads one element afresh; floor sends the necessary queries of read in one round
// trip.
func BenchmarkSnapshot(b *testing.B) {
	for name, start := range programs() {
		b.Run(name, func(b *testing.B) {
			w := newWorld(b)
			app := w.app(b, start(b, w))
			time.Sleep(2 * time.Second) // by then ATK's cache contains the page
			w.awaitIdle(b, app)
			b.Run("cold", func(b *testing.B) {
				nodes := 0
				percentile(b, func() {
					assert.NilError(b, atspi.Forget(b.Context(), w.bus, app))
					nodes = len(w.snapshot(b, app).Elements)
				})
				b.ReportMetric(float64(nodes), "nodes")
			})
			b.Run("warm", func(b *testing.B) {
				w.awaitIdle(b, app)
				percentile(b, func() { w.snapshot(b, app) })
			})
			b.Run("read", func(b *testing.B) {
				part := w.part(b, app)
				percentile(b, func() {
					_, err := w.bus.Read(b.Context(), app, part)
					assert.NilError(b, err)
				})
			})
			b.Run("floor", func(b *testing.B) {
				ask, err := atspi.AskAll(b.Context(), w.bus, app, w.part(b, app))
				assert.NilError(b, err)
				percentile(b, func() {
					assert.NilError(b, ask(b.Context()))
				})
			})
		})
	}
}

// part returns the first showing actionable element of the app.
func (w *world) part(b *testing.B, app desktop.App) desktop.ID {
	b.Helper()
	for _, e := range w.snapshot(b, app).Elements {
		if e.Role.IsInteractive() && e.States.Has(desktop.Showing) {
			return e.ID
		}
	}
	b.Fatalf("there is nothing to do in %s", app.Name)
	return ""
}

// awaitIdle waits until an app's snapshot has not changed for a while.
func (w *world) awaitIdle(t testing.TB, app desktop.App) {
	t.Helper()
	eventually(t, "the app is at rest", func() bool {
		first := w.snapshot(t, app)
		time.Sleep(500 * time.Millisecond)
		last := w.snapshot(t, app)
		return last.Version == first.Version && len(last.Elements) > 10
	})
}
