package atspi

import (
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/gybob/aai-gateway/internal/desktop/treecache"
)

// maxThreads is how many threads of a process are looked at.
const maxThreads = 24

// readHeartbeat reads /proc/<pid>/task/*/{stat,schedstat}. There is no pulse while a
// thread runs, wants to run, or is stopped. Of a program with very many threads it
// is that of the first one alone, if mainOnly says that this is the one in which the
// tree lives.
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

// asleep reports whether a thread waits for something to happen.
func asleep(stat string) bool { return threadIs(stat, "S") }

// stopped reports whether the process was stopped, and runs no more until it is continued.
func stopped(pid int) bool { return threadIs("/proc/"+strconv.Itoa(pid)+"/stat", "T") }

// waitedToRun is how long the first thread of the process has waited in all for a processor
// that others had; 0 where the system does not count that.
func waitedToRun(pid int) time.Duration {
	_, waited := timeOf("/proc/" + strconv.Itoa(pid))
	return waited
}

// timeOf is how long the first thread of the process, whose folder in /proc it is, has run in all,
// and waited for a processor; 0 where the system does not count that.
func timeOf(process string) (ran, waited time.Duration) {
	text, err := os.ReadFile(process + "/schedstat")
	counts := strings.Fields(string(text)) // nanoseconds that it ran and that it waited; slices
	if err != nil || len(counts) < 2 {
		return 0, 0
	}
	r, _ := strconv.ParseInt(counts[0], 10, 64)
	w, _ := strconv.ParseInt(counts[1], 10, 64)
	return time.Duration(r), time.Duration(w)
}

// threadIs reports whether a thread is in the state, by its letter in /proc.
func threadIs(stat, state string) bool {
	text, err := os.ReadFile(stat)
	if err != nil {
		return false
	}
	s := string(text)
	end := strings.LastIndex(s, ") ") // of the name, which may be anything
	return end >= 0 && strings.HasPrefix(s[end+2:], state)
}

// Heartbeat implements mirror.Source.
func (p *program) Heartbeat() treecache.Heartbeat {
	return readHeartbeat(p.app.PID, browser(p.currentTraits().toolkit))
}
