package main

import (
	"runtime"
	"runtime/debug"
	"time"
)

// minHeapGrowth is how far the heap may grow between two collections, in bytes, when
// what lives is little. By itself Go collects every 4 MB, and a request makes
// garbage of 0.2 MB in the SDK: it would collect every twenty requests.
const minHeapGrowth = 16 << 20

// defaultGCPercent is Go's own, which says that nobody has set another.
const defaultGCPercent = 100

// gcPercent is the growth, in percent of what lives, after which the
// collector works while the program serves: that of a roomy heap, or Go's own
// where more lives than that. What the person has set (GOGC) holds.
func gcPercent(set int, live uint64) int {
	// Go takes at least 4 MB for what lives.
	const least = 4 << 20
	if set != defaultGCPercent {
		return set
	}
	return max(defaultGCPercent, int(defaultGCPercent*minHeapGrowth/max(live, least)))
}

// liveHeap collects, and returns how many bytes are left.
func liveHeap() uint64 {
	runtime.GC()
	return heap()
}

// heap is how many bytes are in use, garbage too.
func heap() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// startMemory is how much a start may use before the collector works all the
// same, in bytes.
const startMemory = 28 << 20

// settleDelay is how long after the start it is looked at what lives: to look, all
// must be collected, and a client waits for the start.
const settleDelay = 10 * time.Second

// holdCollector keeps the garbage collector from working while the program
// starts: nearly all that a start makes is there to stay, and a client waits.
func holdCollector() (release func()) {
	percent := debug.SetGCPercent(-1)
	limit := debug.SetMemoryLimit(startMemory)
	return func() {
		debug.SetMemoryLimit(limit)
		debug.SetGCPercent(gcPercent(percent, heap()))
		time.AfterFunc(settleDelay, func() { debug.SetGCPercent(gcPercent(percent, liveHeap())) })
	}
}
