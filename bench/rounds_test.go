package bench

import (
	"os"
	"strconv"
	"testing"
	"time"
)

// shortVariable holds how many rounds each benchmark makes at most: with few, all of
// them run to their ends in the time of a test. Their figures say nothing then.
const shortVariable = "AAI_BENCH_ROUNDS"

// roundLimit is how often a benchmark does what it measures: n times, or less often.
func roundLimit(b *testing.B, n int) int {
	b.Helper()
	short := os.Getenv(shortVariable)
	if short == "" {
		return n
	}
	most, err := strconv.Atoi(short)
	if err != nil || most < 1 {
		b.Fatalf("%s: expected a number of rounds, got %q", shortVariable, short)
	}
	return min(n, most)
}

// watchDuration is how long something is watched: a short run has no patience for it.
func watchDuration(long, short time.Duration) time.Duration {
	if os.Getenv(shortVariable) != "" {
		return short
	}
	return long
}
