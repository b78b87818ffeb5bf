package process

import (
	"os"
	"slices"
	"strconv"
)

// The fields of the session that a process is in, and of its terminal.
const (
	fieldSession  = 6 - 3
	fieldTerminal = 7 - 3
)

// ShowsTerminal reports whether the process shows a terminal: whether a child of it, or of another
// process of the same program that it started, leads a session on a pseudo-terminal, as a
// shell does. What is typed into its windows may be run, whatever the program is called.
func ShowsTerminal(pid int) bool {
	all, err := os.ReadDir("/proc")
	if err != nil {
		return false
	}
	children := make(map[int][]int)
	for _, entry := range all {
		if child, err := strconv.Atoi(entry.Name()); err == nil {
			parent := ParentPID(child)
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
	number, err := strconv.Atoi(stat(pid, fieldTerminal))
	major := number >> 8 & 0xfff
	return err == nil && major >= 136 && major <= 143 && stat(pid, fieldSession) == strconv.Itoa(pid)
}
