package apps

import (
	"os"
	"slices"
	"strings"
	"time"

	"gotest.tools/v3/assert"
)

// clicksWithoutEffect repeats a click without effect, and measures the time until the answer that
// nothing was seen.
func (s *stage) clicksWithoutEffect() {
	s.Helper()
	const times = 15
	var took []time.Duration
	s.byAgent("ax_click", params{"query": s.program.inertElement}) // so that it is in its final state
	for range times {
		// The effect of the previous click must have been seen before the next one.
		time.Sleep(refusalWait)
		began := time.Now()
		said := s.byAgent("ax_click", params{"query": s.program.inertElement})
		took = append(took, time.Since(began).Round(time.Millisecond))
		assert.Assert(s, !said.Failed, "a click on %q: failed %v, verified %v: %.300s", s.program.inertElement, said.Failed, said.Result.Verified, said.Text)
		assert.Assert(s, !said.Result.Verified, "a click on %q: failed %v, verified %v: %.300s", s.program.inertElement, said.Failed, said.Result.Verified, said.Text)
	}
	slices.Sort(took)
	load, _ := os.ReadFile("/proc/loadavg")
	s.Logf("%s: a click without effect is answered in %s, at best %s, at worst %s, with a load of %s", s.program.name, took[times/2], took[0], took[times-1], strings.TrimSpace(string(load)))
}
