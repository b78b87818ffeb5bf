package process

import (
	"os"
)

// HostChecker says of a process whether it is one that this one runs in: the program at the other
// end of in, what started that or this process, and so on, up to what adopts processes: to
// end one of them may end the caller. It is to be asked for when the process starts.
func HostChecker(in *os.File) func(pid int) bool {
	started := make(map[int]string) // of each, so that a number that is given again is no host
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
