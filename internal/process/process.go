// Package process says what a process runs, as the kernel tells it in /proc: its
// program, and the script where that is an interpreter. Where there is no /proc it
// knows nothing. It imports nothing of ours.
package process

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

func folder(pid int) string { return "/proc/" + strconv.Itoa(pid) }

// Executable is the path of the process's program, "" if that cannot be known.
func Executable(pid int) string {
	path, err := os.Readlink(folder(pid) + "/exe")
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(path, " (deleted)") // it was upgraded while it runs
}

// The fields of /proc/<pid>/stat, as proc(5) counts them, behind the name, which may
// hold anything and after which comes field 3.
const (
	ppid      = 4 - 3
	starttime = 22 - 3
)

// Started is when the process was started, in the kernel's words, "" if it has ended.
// A number of a process is given again; with another beginning.
func Started(pid int) string { return stat(pid, starttime) }

// Parent is the process that the process is a child of, 0 if there is none.
func Parent(pid int) int {
	parent, err := strconv.Atoi(stat(pid, ppid))
	if err != nil {
		return 0
	}
	return parent
}

func stat(pid, field int) string {
	text, err := os.ReadFile(folder(pid) + "/stat")
	if err != nil {
		return ""
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) <= field {
		return ""
	}
	return fields[field]
}

// Arguments are the process's own, as it shows them, its name first.
func Arguments(pid int) []string {
	line, err := os.ReadFile(folder(pid) + "/cmdline")
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")
}

// ProgramName takes off what packagers put around the name of a program.
func ProgramName(path string) string {
	name := filepath.Base(path)
	name = strings.TrimSuffix(strings.TrimPrefix(name, "."), "-wrapped")
	for _, ending := range []string{".bin", "-bin", ".real"} {
		if short := strings.TrimSuffix(name, ending); short != "" {
			name = short
		}
	}
	return name
}

// Interpreter reports whether a program runs scripts that are programs themselves.
func Interpreter(name string) bool {
	name = strings.TrimRight(name, "0123456789.-")
	switch name {
	case "python", "pypy", "node", "nodejs", "perl", "ruby", "bash", "sh", "dash", "zsh", "gjs", "gjs-console", "cjs", "cjs-console",
		"java", "mono", "mono-sgen", "electron", "php", "lua", "luajit", "tclsh", "wish", "guile", "deno", "bun", "qml", "qmlscene":
		return true
	}
	return false
}

// Script finds the script in an interpreter's command line: its name without folder
// and ending, and the argument that says where it is. Both are "" if it has none.
func Script(args []string) (name, path string) {
	for i := 1; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "-m" && i+1 < len(args): // Python
			return args[i+1], ""
		case arg == "-jar" && i+1 < len(args): // Java
			return stem(args[i+1]), args[i+1]
		case arg == "" || isCode(arg):
			return "", ""
		case arg == "-cp" || arg == "-classpath" || arg == "-X" || arg == "-W" || arg == "-r" || arg == "--require" || arg == "-I":
			i++
		case !strings.HasPrefix(arg, "-"):
			return stem(arg), arg
		}
	}
	return "", ""
}

// isCode reports whether an interpreter gets code by the argument, on its command line or
// from its standard input, or a module in one word: what comes after it is no script, but may name one of others.
func isCode(arg string) bool {
	switch {
	case arg == "-" || arg == "-c" || arg == "-e" || arg == "-p":
		return true
	case strings.HasPrefix(arg, "--eval") || strings.HasPrefix(arg, "--print"):
		return true
	case arg == "-cp" || arg == "-classpath" || arg == "-client" || arg == "-ea" || arg == "-esa" || strings.HasPrefix(arg, "-enable"):
		return false // Java's
	}
	return strings.HasPrefix(arg, "-c") || strings.HasPrefix(arg, "-e") || strings.HasPrefix(arg, "-m") && arg != "-m" || arg == "-pe" || arg == "-ne" || arg == "-le"
}

func stem(path string) string {
	name := filepath.Base(path)
	if short := strings.TrimSuffix(name, filepath.Ext(name)); short != "" {
		return short
	}
	return name
}

// Real is the real path of what a process means by a path, and where that file is found
// from here, as the process sees it, which may have folders of its own. Both are "" if
// there is no such file.
func Real(pid int, path string) (real, file string) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(Folder(pid), path)
	}
	root := folder(pid) + "/root"
	if file, err := filepath.EvalSymlinks(root + path); err == nil {
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			return strings.TrimPrefix(file, root), file
		}
	}
	if file, err := filepath.EvalSymlinks(path); err == nil {
		return file, file
	}
	return "", ""
}

// Folder is the process's working folder.
func Folder(pid int) string {
	path, _ := os.Readlink(folder(pid) + "/cwd")
	return path
}

// SameFolders reports whether a path means to the process what it means here.
func SameFolders(pid int) bool {
	theirs, err := os.Readlink(folder(pid) + "/ns/mnt")
	ours, e := os.Readlink("/proc/self/ns/mnt")
	return err == nil && e == nil && theirs == ours
}

// Flatpak is the id of the app that the process is of, if it is one of Flatpak's: it
// has a root of its own with a file that says so.
func Flatpak(pid int) string {
	if SameFolders(pid) {
		return ""
	}
	text, err := os.ReadFile(folder(pid) + "/root/.flatpak-info")
	if err != nil {
		return ""
	}
	section := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = line
		}
		if name, value, ok := strings.Cut(line, "="); ok && section == "[Application]" && strings.TrimSpace(name) == "name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
