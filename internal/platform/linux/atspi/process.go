package atspi

import (
	"slices"
	"strings"
	"sync"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/process"
)

// A processInfo holds the known facts about a process.
type processInfo struct {
	started    string // time since boot; unlike process IDs it is not reused
	executable string
	args       []string // of an interpreter
	id         string   // see desktop.App.ID
	program    string   // see desktop.App.ProgramIdentity
}

// processCache caches processInfos, so that listing does not read every program again. The zero value is
// ready; it is safe for concurrent use.
type processCache struct {
	mu    sync.Mutex
	known map[int]processInfo
}

// maxProcesses is the maximum size of the cache; a full cache is cleared.
const maxProcesses = 1000

// of returns the information on a process. It reads a process again if that has changed its program by
// exec.
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

// identity returns a name for the program that is the same in every run: its executable, or the script if
// the executable is an interpreter.
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

// worksCovered reports whether a Chromium with the arguments works while it is covered. Some programs write
// all arguments into the first.
func worksCovered(arguments []string) bool {
	return slices.Contains(strings.Fields(strings.Join(arguments, " ")), desktop.ChromiumNoBackgroundingFlag)
}
