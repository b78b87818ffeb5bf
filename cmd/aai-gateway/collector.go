package main

import (
	"runtime"
	"runtime/debug"
	"time"

	"github.com/gybob/aai-gateway/internal/process"
)

// minHeapGrowth is the heap growth between two collections of a small heap, in bytes. By default
// Go collects every 4 MB. A request makes 0.2 MB of garbage in the SDK, so Go would collect every
// twenty requests.
const minHeapGrowth = 16 << 20

// defaultGCPercent is Go's default, which means that GOGC is not set.
const defaultGCPercent = 100

// gcPercent returns the GC percentage for a live heap: it allows minHeapGrowth, or Go's default
// for a larger heap. A GOGC setting of the user takes precedence.
func gcPercent(set int, live uint64) int {
	// Go takes at least 4 MB for the live heap.
	const least = 4 << 20
	if set != defaultGCPercent {
		return set
	}
	return max(defaultGCPercent, int(defaultGCPercent*minHeapGrowth/max(live, least)))
}

// heap returns the bytes in use, including garbage.
func heap() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// startMemory is the memory limit, in bytes, above which the collector works during the start.
const startMemory = 28 << 20

// settleDelay is the time from the end of the start until its memory is released. That needs a full
// collection, which would delay a client that is still listing tools.
const settleDelay = 500 * time.Millisecond

// holdCollector suspends the garbage collector during the start: nearly all memory of the start
// stays in use, and a client waits. Some time after release, memory that only the start needed
// goes back to the system.
func holdCollector() (release func()) {
	percent := debug.SetGCPercent(-1)
	limit := debug.SetMemoryLimit(startMemory)
	return func() {
		debug.SetMemoryLimit(limit)
		debug.SetGCPercent(gcPercent(percent, heap()))
		time.AfterFunc(settleDelay, func() {
			process.ReleaseMemory()
			debug.SetGCPercent(gcPercent(percent, heap()))
		})
	}
}
