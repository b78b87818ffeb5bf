package atspi

import (
	"os"
	"strconv"
	"strings"
	"time"
)

// A pulse says how much each thread of a process has run so far. Two that are equal
// prove that the process did nothing in between, so that nothing in it changed. It
// is "" if that cannot be known, and then equals nothing.
//
// It is what makes up for toolkits that change in silence: Qt 6.4 tells nobody that
// a list was filled anew, and few toolkits tell of scrolling.
type pulse string

// still reports whether nothing has run between the two.
func (p pulse) still(earlier pulse) bool { return p != "" && p == earlier }

// manyThreads is how many threads of a process are looked at.
const manyThreads = 24

// takePulse reads /proc/<pid>/task/*/{stat,schedstat}. There is no pulse while a
// thread runs, wants to run, or is stopped. Of a program with very many threads it
// is that of the first one alone, if mainOnly says that this is the one in which the
// tree lives.
func takePulse(pid int, mainOnly bool) pulse {
	process := "/proc/" + strconv.Itoa(pid) + "/task"
	names := []string{strconv.Itoa(pid)}
	if !mainOnly {
		folder, err := os.Open(process)
		if err != nil {
			return ""
		}
		defer func() { _ = folder.Close() }()
		if names, err = folder.Readdirnames(-1); err != nil || len(names) > manyThreads {
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
	return pulse(b.String())
}

// asleep reports whether a thread waits for something to happen.
func asleep(stat string) bool {
	text, err := os.ReadFile(stat)
	if err != nil {
		return false
	}
	s := string(text)
	end := strings.LastIndex(s, ") ") // of the name, which may be anything
	return end >= 0 && strings.HasPrefix(s[end+2:], "S")
}

// pulse takes the program's pulse.
func (p *program) pulse() pulse {
	return takePulse(p.app.PID, p.habits().toolkit == chromium)
}

// restingPulse takes the program's pulse when it has come to rest after having
// answered, which on a busy computer takes a moment. Where it does not there is none.
func (p *program) restingPulse() pulse {
	const first, last = 50 * time.Microsecond, 2 * time.Millisecond
	for pause := first; pause < last; pause *= 2 {
		if beat := p.pulse(); beat != "" {
			return beat
		}
		time.Sleep(pause)
	}
	return p.pulse()
}
