//go:build !linux && !windows

package child

import (
	"os"
	"runtime/metrics"
	"time"
)

// exitTooMuchMemory is how the process ends that has more memory than it may.
const exitTooMuchMemory = 3

// watchSelf ends the process when it has more than it may, where its parent cannot see that.
func watchSelf() {
	has := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	for range time.Tick(25 * time.Millisecond) {
		metrics.Read(has)
		if has[0].Value.Uint64()-has[1].Value.Uint64() > MaxMemory {
			os.Exit(exitTooMuchMemory)
		}
	}
}
