package process

import (
	"os"
)

// HostChecker returns a function that reports whether a process hosts this one: the program at
// the other end of in, or an ancestor of that or of this process, up to a process that adopts
// orphans. Ending a host may end the caller. Call it when this process starts.
func HostChecker(in *os.File) func(pid int) bool {
	started := make(map[int]string) // start time of each, since a process id may be reused
	add := func(h *pidHandle, err error) {
		for range maxAncestors {
			if err != nil {
				return
			}
			if _, known := started[h.pid]; known || isReaper(ProgramName(Executable(h.pid))) {
				h.close()
				return
			}
			started[h.pid] = StartTime(h.pid)
			h, err = openParent(h)
		}
		if err == nil {
			h.close()
		}
	}
	if in != nil {
		add(openPeer(in))
	}
	add(openOwnParent())
	return func(pid int) bool {
		begun, known := started[pid]
		return known && begun != "" && StartTime(pid) == begun
	}
}
