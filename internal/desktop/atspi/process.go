package atspi

import (
	"slices"
	"strings"
	"sync"

	"aai/internal/desktop"
	"aai/internal/process"
)

// A runner is what is known of a process.
type runner struct {
	started    string // since the computer's start; a number is given again, this is not
	executable string
	args       []string // of an interpreter
	id         string   // as desktop.App has it
	program    string   // as desktop.App has it
}

// runners remembers them, since a program is not read each time that it is listed. The
// zero value is ready; it is safe for concurrent use.
type runners struct {
	mu    sync.Mutex
	known map[int]runner
}

// manyRunners is how many are remembered; then all are forgotten.
const manyRunners = 1000

// of tells what is known of a process. One that has become another program since, by
// exec, is looked at anew.
func (r *runners) of(pid int) runner {
	is := runner{started: process.Started(pid), executable: process.Executable(pid)}
	if is.executable != "" && process.Interpreter(process.ProgramName(is.executable)) {
		is.args = process.Arguments(pid)
	}
	r.mu.Lock()
	was, known := r.known[pid]
	r.mu.Unlock()
	if known && was.started == is.started && was.executable == is.executable && slices.Equal(was.args, is.args) {
		return was
	}
	is.id, is.program = identity(is.executable, is.args), programOf(pid, is.executable, is.args)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil || len(r.known) >= manyRunners {
		r.known = make(map[int]runner)
	}
	r.known[pid] = is
	return is
}

// identity names a process the same way each time its program runs: by its
// executable, or by the script if that is an interpreter.
func identity(path string, args []string) string {
	if path == "" {
		return ""
	}
	name := process.ProgramName(path)
	if !process.Interpreter(name) {
		return name
	}
	if script, _ := process.Script(name, args); script != "" {
		return script
	}
	return name
}

// worksCovered reports whether a Chromium with the arguments works while it is covered. Some write
// all of theirs into the first.
func worksCovered(arguments []string) bool {
	return slices.Contains(strings.Fields(strings.Join(arguments, " ")), desktop.ChromiumWorksCovered)
}
