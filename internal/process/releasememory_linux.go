package process

import (
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// ReleaseMemory releases memory that only the start of this program needed: free heap, and
// unmodified read-only pages of files. The kernel reloads such a page from its file at the next
// access.
func ReleaseMemory() {
	debug.FreeOSMemory()
	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return
	}
	var begin, end uint64
	for line := range strings.Lines(string(smaps)) {
		fields := strings.Fields(line)
		if from, to, found := strings.Cut(fields[0], "-"); found && !strings.HasSuffix(fields[0], ":") {
			begin, end = 0, 0
			if len(fields) > 5 && strings.HasPrefix(fields[5], "/") && (fields[1] == "r-xp" || fields[1] == "r--p") {
				begin, _ = strconv.ParseUint(from, 16, 64)
				end, _ = strconv.ParseUint(to, 16, 64)
			}
		}
		if fields[0] == "Anonymous:" && fields[1] == "0" && begin < end {
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, uintptr(begin), uintptr(end-begin), unix.MADV_DONTNEED)
		}
	}
}
