//go:build !linux && !windows

package child

import (
	"os"
	"runtime/metrics"
	"time"
)

// exitTooMuchMemory is the exit code after exceeding the memory limit.
const exitTooMuchMemory = 3

// watchSelf ends the process if it exceeds its memory limit, because the parent cannot measure it here.
func watchSelf() {
	has := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	for range time.Tick(25 * time.Millisecond) {
		metrics.Read(has)
		if has[0].Value.Uint64()-has[1].Value.Uint64() > MaxMemory {
			os.Exit(exitTooMuchMemory)
		}
	}
}
