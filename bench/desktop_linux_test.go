package bench

import (
	"fmt"
	"testing"
)

// desktopBench is the shared data of the desktop benchmarks.
type desktopBench struct {
	program string             // the gateway
	walks   map[string]samples // pyatspi's times, by app
	table   table
}

// BenchmarkDesktop measures an agent's work with windows and prints a table: private desktops,
// real apps, the built program over standard input and output. Each of its benchmarks runs all of
// its rounds once, regardless of -benchtime.
func BenchmarkDesktop(b *testing.B) {
	w := &desktopBench{program: build(b, "github.com/gybob/aai-gateway/cmd/aai-gateway"), walks: make(map[string]samples)}
	b.Run("Click", w.clicks)
	b.Run("Flow", w.flows)
	b.Run("Vain", w.clicksWithoutEffect)
	b.Run("Tree", w.trees)
	b.Run("Snapshot", w.snapshots)
	b.Run("Picture", w.screenshots)
	b.Run("Idle", w.listening)
	b.Run("Notices", w.notices)
	b.Run("Complete", w.completeness)
	b.Run("Followed", w.idleListeners)
	b.Run("Subscribers", w.manySubscribers)
	b.Run("Frozen", w.hungWindow)
	b.Run("Discover", w.discover)
	b.Run("Peers", w.comparePeers)
	b.Run("Shop", w.compareShop)
	fmt.Print(w.table.String())
}
