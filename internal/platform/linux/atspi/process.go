package atspi

import (
	"slices"
	"strings"
	"sync"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/process"
)

// A runner is what is known of a process.
type processInfo struct {
	started    string // since the computer's start; a number is given again, this is not
	executable string
	args       []string // of an interpreter
	id         string   // as desktop.App has it
	program    string   // as desktop.App has it
}

// processCache remembers them, since a program is not read each time that it is listed. The
// zero value is ready; it is safe for concurrent use.
type processCache struct {
	mu    sync.Mutex
	known map[int]processInfo
}

// maxProcesses is how many are remembered; then all are forgotten.
const maxProcesses = 1000

// of tells what is known of a process. One that has become another program since, by
// exec, is looked at anew.
func (r *processCache) of(pid int) processInfo {
	is := processInfo{started: process.StartTime(pid), executable: process.Executable(pid)}
	if is.executable != "" && process.IsInterpreter(process.ProgramName(is.executable)) {
		is.args = process.Arguments(pid)
	}
	r.mu.Lock()
	was, known := r.known[pid]
	r.mu.Unlock()
	if known && was.started == is.started && was.executable == is.executable && slices.Equal(was.args, is.args) {
		return was
	}
	is.id, is.program = identity(is.executable, is.args), programIdentity(pid, is.executable, is.args)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil || len(r.known) >= maxProcesses {
		r.known = make(map[int]processInfo)
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
	if !process.IsInterpreter(name) {
		return name
	}
	if script, _ := process.FindScript(name, args); script != "" {
		return script
	}
	return name
}

// worksCovered reports whether a Chromium with the arguments works while it is covered. Some write
// all of theirs into the first.
func worksCovered(arguments []string) bool {
	return slices.Contains(strings.Fields(strings.Join(arguments, " ")), desktop.ChromiumNoBackgroundingFlag)
}
