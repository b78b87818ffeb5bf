package atspi

import (
	"context"
	"os"
	"strconv"
	"strings"
	"time"

	"aai/internal/dbuswire"
	"aai/internal/desktop"
)

// manyAsleep is how many threads are looked at of a program and all that it started; one
// that has more is not known to be idle.
const manyAsleep = 1000

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

// Idle implements desktop.Events.
func (b *Bus) Idle(app desktop.App) bool {
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
	if shows := p.habits().showsPress(); shows > 0 && time.Since(time.Unix(0, p.pressed.Load())) < shows {
		return false
	}
	return l.delivers() && sleeps(app.PID)
}

// delivers reports whether the registry, and with it the bus, is through with what it was sent
// before: a program may sleep until it hears from them, as toolkits do with each key, and on a
// busy computer that takes a while.
func (l *link) delivers() bool {
	ctx, cancel := context.WithTimeout(context.Background(), answerPatience)
	defer cancel()
	_, _ = l.conn.Call(ctx, &dbuswire.Message{Destination: registryName, Path: registryPath, Interface: "org.freedesktop.DBus.Peer", Member: "Ping"})
	return ctx.Err() == nil // a refusal is an answer
}

// sleeps reports whether all threads of the process wait for something to happen, and
// those of the processes that it started: a browser's pages run in some of these.
func sleeps(pid int) bool {
	threads := 0
	for processes := []string{strconv.Itoa(pid)}; len(processes) > 0; processes = processes[1:] {
		tasks := "/proc/" + processes[0] + "/task"
		folder, err := os.Open(tasks)
		if err != nil {
			if threads == 0 {
				return false
			}
			continue // one that it started has ended
		}
		names, err := folder.Readdirnames(manyAsleep)
		_ = folder.Close()
		if threads += len(names); err != nil || threads > manyAsleep {
			return false
		}
		for _, name := range names {
			task := tasks + "/" + name
			if !asleep(task + "/stat") {
				return false
			}
			if started, err := os.ReadFile(task + "/children"); err == nil {
				processes = append(processes, strings.Fields(string(started))...)
			}
		}
	}
	return true
}
