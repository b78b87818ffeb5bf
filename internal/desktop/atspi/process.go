package atspi

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// executable is the path of the process's program, "" if that cannot be known.
func executable(pid int) string {
	path, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe")
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(path, " (deleted)") // it was upgraded while it runs
}

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
	is := runner{started: startOf(pid), executable: executable(pid)}
	if is.executable != "" && interpreter(programName(is.executable)) {
		is.args = argumentsOf(pid)
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

// startOf is when the process was started, in the kernel's words.
func startOf(pid int) string {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	const starttime = 22 - 3 // field 22 of proc(5); behind the name, which may hold anything, comes field 3
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) <= starttime {
		return ""
	}
	return fields[starttime]
}

func argumentsOf(pid int) []string {
	line, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")
}

// identity names a process the same way each time its program runs: by its
// executable, or by the script if that is an interpreter.
func identity(path string, args []string) string {
	if path == "" {
		return ""
	}
	name := programName(path)
	if !interpreter(name) {
		return name
	}
	if script, _ := scriptOf(args); script != "" {
		return script
	}
	return name
}

// programName takes off what packagers put around the name of a program.
func programName(path string) string {
	name := filepath.Base(path)
	name = strings.TrimSuffix(strings.TrimPrefix(name, "."), "-wrapped")
	for _, ending := range []string{".bin", "-bin", ".real"} {
		if short := strings.TrimSuffix(name, ending); short != "" {
			name = short
		}
	}
	return name
}

// interpreter reports whether a program runs scripts that are programs themselves.
func interpreter(name string) bool {
	name = strings.TrimRight(name, "0123456789.-")
	switch name {
	case "python", "pypy", "node", "nodejs", "perl", "ruby", "bash", "sh", "dash", "zsh", "gjs", "gjs-console", "cjs", "cjs-console",
		"java", "mono", "mono-sgen", "electron", "php", "lua", "luajit", "tclsh", "wish", "guile", "deno", "bun", "qml", "qmlscene":
		return true
	}
	return false
}

// scriptOf finds the script in an interpreter's command line: its name without folder
// and ending, and the argument that says where it is. Both are "" if it has none.
func scriptOf(args []string) (name, path string) {
	for i := 1; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "-m" && i+1 < len(args): // Python
			return args[i+1], ""
		case arg == "-jar" && i+1 < len(args): // Java
			return stem(args[i+1]), args[i+1]
		case arg == "-c" || arg == "-e" || arg == "":
			return "", ""
		case arg == "-cp" || arg == "-classpath" || arg == "-X" || arg == "-W" || arg == "-r" || arg == "--require" || arg == "-I":
			i++
		case !strings.HasPrefix(arg, "-"):
			return stem(arg), arg
		}
	}
	return "", ""
}

func stem(path string) string {
	name := filepath.Base(path)
	if short := strings.TrimSuffix(name, filepath.Ext(name)); short != "" {
		return short
	}
	return name
}
