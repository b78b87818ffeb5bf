package main

import (
	"math"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"
)

func TestServingPercent(t *testing.T) {
	for _, c := range []struct {
		set  int
		live uint64
		want int
	}{
		{100, 0, 400},
		{100, 1 << 20, 400}, // Go's minimum for the live heap is 4 MB
		{100, 4 << 20, 400},
		{100, 8 << 20, 200},
		{100, 16 << 20, 100},
		{100, 500 << 20, 100},
		{100, math.MaxUint64, 100},
		{-1, 1 << 20, -1}, // GOGC=off
		{50, 1 << 20, 50},
		{1000, 500 << 20, 1000},
	} {
		got := gcPercent(c.set, c.live)
		assert.Check(t, is.Equal(got, c.want), "set to %d%%, of %d bytes: %d%%, want %d%%", c.set, c.live, got, c.want)
	}
}

// The heap grows at most by minHeapGrowth, or by the live heap.
func TestServingPercentIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		live := rapid.Uint64Range(0, 1<<40).Draw(t, "live")
		grown := max(live, 4<<20) / 100 * uint64(gcPercent(100, live))
		assert.Check(t, grown <= max(live, minHeapGrowth), "of %d bytes the heap grows by %d", live, grown)
	})
}
