package process

import (
	"os"
	"slices"
	"strconv"
)

// The fields of the session that a process is in, and of its terminal.
const (
	session  = 6 - 3
	terminal = 7 - 3
)

// Terminal reports whether the process shows a terminal: whether a child of it, or of another
// process of the same program that it started, leads a session on a pseudo-terminal, as a
// shell does. What is typed into its windows may be run, whatever the program is called.
func Terminal(pid int) bool {
	all, err := os.ReadDir("/proc")
	if err != nil {
		return false
	}
	children := make(map[int][]int)
	for _, entry := range all {
		if child, err := strconv.Atoi(entry.Name()); err == nil {
			parent := Parent(child)
			children[parent] = append(children[parent], child)
		}
	}
	program := Executable(pid)
	var shows func(int) bool
	shows = func(parent int) bool {
		return slices.ContainsFunc(children[parent], func(child int) bool {
			return leadsTerminal(child) || program != "" && Executable(child) == program && shows(child)
		})
	}
	return shows(pid)
}

// leadsTerminal reports whether the process leads a session on a pseudo-terminal, whose
// numbers the kernel begins with 136 to 143.
func leadsTerminal(pid int) bool {
	number, err := strconv.Atoi(stat(pid, terminal))
	major := number >> 8 & 0xfff
	return err == nil && major >= 136 && major <= 143 && stat(pid, session) == strconv.Itoa(pid)
}
