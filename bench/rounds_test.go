package bench

import (
	"os"
	"strconv"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// shortVariable holds the maximum of rounds of each benchmark: with few, all of them end in the
// time of a test. Their figures are meaningless then.
const shortVariable = "AAI_BENCH_ROUNDS"

// roundLimit returns the number of rounds of a benchmark: n, or fewer.
func roundLimit(b *testing.B, n int) int {
	b.Helper()
	short := os.Getenv(shortVariable)
	if short == "" {
		return n
	}
	most, err := strconv.Atoi(short)
	assert.NilError(b, err, "%s %q", shortVariable, short)
	assert.Assert(b, most >= 1, "%s: expected a number of rounds, got %q", shortVariable, short)
	return min(n, most)
}

// watchDuration returns the duration of an observation, the short one in a short run.
func watchDuration(long, short time.Duration) time.Duration {
	if os.Getenv(shortVariable) != "" {
		return short
	}
	return long
}
