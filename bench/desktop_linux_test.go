package bench

import (
	"fmt"
	"testing"
)

// A studio is what the benchmarks of the desktop share.
type studio struct {
	program string             // the gateway
	walks   map[string]samples // how long pyatspi took, by app
	table   table
}

// BenchmarkDesktop measures what an agent does with windows and prints a table:
// private desktops, real apps, the built program over standard input and output.
// Each of its benchmarks makes all of its rounds once, whatever -benchtime says.
func BenchmarkDesktop(b *testing.B) {
	w := &studio{program: build(b, "aai/cmd/aai-gateway"), walks: make(map[string]samples)}
	b.Run("Click", w.clicks)
	b.Run("Flow", w.flows)
	b.Run("Vain", w.vain)
	b.Run("Tree", w.trees)
	b.Run("Snapshot", w.snapshots)
	b.Run("Picture", w.pictures)
	b.Run("Idle", w.listening)
	b.Run("Frozen", w.frozen)
	b.Run("Discover", w.discover)
	b.Run("Peers", w.peers)
	b.Run("Shop", w.besideShop)
	fmt.Print(w.table.String())
}
