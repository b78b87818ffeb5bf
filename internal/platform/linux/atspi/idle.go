package atspi

import (
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gybob/aai-gateway/internal/dbus/wire"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/treecache"
)

// maxDescendantThreads is the maximum number of threads of a program and its descendants that are checked.
// A program with more is never reported idle.
const maxDescendantThreads = 1000

// IsIdle implements desktop.Events.
func (b *Bus) IsIdle(app desktop.App) bool {
	b.mu.Lock()
	l := b.link
	b.mu.Unlock()
	if l == nil {
		return false
	}
	l.mu.Lock()
	p := l.programs[app.Key]
	l.mu.Unlock()
	if p == nil || p.app.PID != app.PID {
		return false
	}
	if shows := p.profile().pressDelay; shows > 0 && time.Since(time.Unix(0, p.pressed.Load())) < shows {
		return false
	}
	return l.hasDelivered() && isAsleep(app.PID)
}

// hasDelivered reports whether the registry, and thus the bus, has processed all earlier messages. A
// program may sleep until it hears from them, as toolkits do for each key, and on a busy computer that
// takes a while.
func (l *link) hasDelivered() bool {
	ctx, cancel := context.WithTimeout(context.Background(), answerPatience)
	defer cancel()
	_, _ = l.conn.Call(ctx, &wire.Message{Destination: registryName, Path: registryPath, Interface: "org.freedesktop.DBus.Peer", Member: "Ping"})
	return ctx.Err() == nil // a refusal is an answer
}

// isAsleep reports whether all threads of the process and its descendants wait for events: a browser
// renders pages in descendants.
func isAsleep(pid int) bool {
	threads := 0
	return eachDescendant(pid, func(process string, names []string) bool {
		threads += len(names)
		return threads <= maxDescendantThreads && !slices.ContainsFunc(names, func(name string) bool {
			return !asleep(process + "/task/" + name + "/stat")
		})
	})
}

// BusyTime implements desktop.Events.
func (b *Bus) BusyTime(app desktop.App) time.Duration { return busyTime(app.PID) }

// busyTime returns the total busy time of the first threads of the process and its descendants.
func busyTime(pid int) (worked time.Duration) {
	eachDescendant(pid, func(process string, _ []string) bool {
		ran, waited := timeOf(process)
		worked += ran + waited
		return true
	})
	return worked
}

// eachDescendant calls each with the folder in /proc of the process and of each descendant, and the names
// of their threads, until each returns false. It reports whether each always returned true.
func eachDescendant(pid int, each func(process string, threads []string) bool) bool {
	for processes := []string{"/proc/" + strconv.Itoa(pid)}; len(processes) > 0; processes = processes[1:] {
		process := processes[0]
		folder, err := os.Open(process + "/task")
		if err != nil {
			if process == "/proc/"+strconv.Itoa(pid) {
				return false
			}
			continue // a descendant has ended
		}
		names, err := folder.Readdirnames(maxDescendantThreads + 1)
		_ = folder.Close()
		if err != nil || !each(process, names) {
			return false
		}
		for _, name := range names {
			started, _ := os.ReadFile(process + "/task/" + name + "/children")
			for _, child := range strings.Fields(string(started)) {
				processes = append(processes, "/proc/"+child)
			}
		}
	}
	return true
}

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
