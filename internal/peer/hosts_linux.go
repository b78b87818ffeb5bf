package peer

import (
	"os"

	"aai/internal/process"
)

// Hosts says of a process whether it is one that this one runs in: the program at the other
// end of in, what started that or this process, and so on, up to what adopts processes: to
// end one of them may end the caller. It is to be asked for when the process starts.
func Hosts(in *os.File) func(pid int) bool {
	started := make(map[int]string) // of each, so that a number that is given again is no host
	add := func(h *handle, err error) {
		for range generations {
			if err != nil {
				return
			}
			if _, known := started[h.pid]; known || adopts(process.ProgramName(process.Executable(h.pid))) {
				h.close()
				return
			}
			started[h.pid] = process.Started(h.pid)
			h, err = starter(h)
		}
		if err == nil {
			h.close()
		}
	}
	if in != nil {
		add(other(in))
	}
	add(ownParent())
	return func(pid int) bool {
		begun, known := started[pid]
		return known && begun != "" && process.Started(pid) == begun
	}
}
