package atspi

import (
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/gybob/aai-gateway/internal/desktop/treecache"
)

// maxThreads is the maximum number of threads of a process that are read.
const maxThreads = 24

// readHeartbeat reads the run times of a process's threads from /proc/<pid>/task/*/{stat,schedstat}. It
// returns "" if a thread is not asleep, or if there are more than maxThreads. With mainOnly it reads only
// the first thread: a browser has many, and its tree lives in the first.
func readHeartbeat(pid int, mainOnly bool) treecache.Heartbeat {
	process := "/proc/" + strconv.Itoa(pid) + "/task"
	names := []string{strconv.Itoa(pid)}
	if !mainOnly {
		folder, err := os.Open(process)
		if err != nil {
			return ""
		}
		defer func() { _ = folder.Close() }()
		if names, err = folder.Readdirnames(-1); err != nil || len(names) > maxThreads {
			return ""
		}
	}
	var b strings.Builder
	for _, name := range names {
		ran, err := os.ReadFile(process + "/" + name + "/schedstat")
		if err != nil || !asleep(process+"/"+name+"/stat") {
			return ""
		}
		b.WriteString(name)
		b.WriteByte(' ')
		b.Write(ran)
	}
	return treecache.Heartbeat(b.String())
}

// asleep reports whether a thread waits for an event.
func asleep(stat string) bool { return threadIs(stat, "S") }

// stopped reports whether the process is stopped by a signal.
func stopped(pid int) bool { return threadIs("/proc/"+strconv.Itoa(pid)+"/stat", "T") }

// waitedToRun returns the total time that the first thread of the process has waited for a busy processor;
// 0 if the system does not count it.
func waitedToRun(pid int) time.Duration {
	_, waited := timeOf("/proc/" + strconv.Itoa(pid))
	return waited
}

// timeOf returns the total times that the first thread of the process has run and has waited for a
// processor. process is its folder in /proc. Both are 0 if the system does not count them.
func timeOf(process string) (ran, waited time.Duration) {
	text, err := os.ReadFile(process + "/schedstat")
	counts := strings.Fields(string(text)) // nanoseconds run, nanoseconds waited, number of slices
	if err != nil || len(counts) < 2 {
		return 0, 0
	}
	r, _ := strconv.ParseInt(counts[0], 10, 64)
	w, _ := strconv.ParseInt(counts[1], 10, 64)
	return time.Duration(r), time.Duration(w)
}

// threadIs reports whether a thread is in the state, given as its letter in /proc.
func threadIs(stat, state string) bool {
	text, err := os.ReadFile(stat)
	if err != nil {
		return false
	}
	s := string(text)
	end := strings.LastIndex(s, ") ") // end of the name, which may contain anything
	return end >= 0 && strings.HasPrefix(s[end+2:], state)
}

// Heartbeat implements treecache.Source.
func (p *program) Heartbeat() treecache.Heartbeat {
	return readHeartbeat(p.app.PID, p.profile().IsBrowser)
}
