package process

import (
	"os"
	"slices"
	"strconv"
)

// The fields of a process's session and terminal.
const (
	fieldSession  = 6 - 3
	fieldTerminal = 7 - 3
)

// ShowsTerminal reports whether the process shows a terminal: whether a child of it, or of a
// child process of the same program, leads a session on a pseudo-terminal, as a shell does. Text
// typed into its windows may run, whatever the program's name.
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

// leadsTerminal reports whether the process leads a session on a pseudo-terminal, which has a
// major number from 136 to 143.
func leadsTerminal(pid int) bool {
	number, err := strconv.Atoi(stat(pid, fieldTerminal))
	major := number >> 8 & 0xfff
	return err == nil && major >= 136 && major <= 143 && stat(pid, fieldSession) == strconv.Itoa(pid)
}
