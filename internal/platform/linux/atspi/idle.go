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
)

// maxDescendantThreads is how many threads are looked at of a program and all that it started; one
// that has more is not known to be idle.
const maxDescendantThreads = 1000

// uncertain is how much longer that may take.
const uncertain = 20 * time.Millisecond

// showsPress is how long the toolkit shows that a thing was pressed before it acts, and
// sleeps. Source: ACTIVATE_TIMEOUT of GTK 4's gtkbutton.c, animateClick of Qt's
// qabstractbutton.cpp.
func (t traits) showsPress() time.Duration {
	switch {
	case t.windowRelative():
		return 250*time.Millisecond + uncertain
	case t.toolkit == qt:
		return 100*time.Millisecond + uncertain
	}
	return 0
}

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
	if shows := p.currentTraits().showsPress(); shows > 0 && time.Since(time.Unix(0, p.pressed.Load())) < shows {
		return false
	}
	return l.hasDelivered() && isAsleep(app.PID)
}

// hasDelivered reports whether the registry, and with it the bus, is through with what it was sent
// before: a program may sleep until it hears from them, as toolkits do with each key, and on a
// busy computer that takes a while.
func (l *link) hasDelivered() bool {
	ctx, cancel := context.WithTimeout(context.Background(), answerPatience)
	defer cancel()
	_, _ = l.conn.Call(ctx, &wire.Message{Destination: registryName, Path: registryPath, Interface: "org.freedesktop.DBus.Peer", Member: "Ping"})
	return ctx.Err() == nil // a refusal is an answer
}

// isAsleep reports whether all threads of the process wait for something to happen, and
// those of the processes that it started: a browser's pages run in some of these.
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

// busyTime is how long the first threads of the process and of all that it started have worked.
func busyTime(pid int) (worked time.Duration) {
	eachDescendant(pid, func(process string, _ []string) bool {
		ran, waited := timeOf(process)
		worked += ran + waited
		return true
	})
	return worked
}

// eachDescendant hands over the folder in /proc of the process and of all that it started, and the names
// of their threads, until each is false. It reports whether it was true of all.
func eachDescendant(pid int, each func(process string, threads []string) bool) bool {
	for processes := []string{"/proc/" + strconv.Itoa(pid)}; len(processes) > 0; processes = processes[1:] {
		process := processes[0]
		folder, err := os.Open(process + "/task")
		if err != nil {
			if process == "/proc/"+strconv.Itoa(pid) {
				return false
			}
			continue // one that it started has ended
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
