package atspi

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// executable is the path of the process's program, "" if that cannot be known.
func executable(pid int) string {
	path, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe")
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(path, " (deleted)") // it was upgraded while it runs
}

// identity names a process the same way each time its program runs: by its
// executable, or by the script if that is an interpreter.
func identity(pid int, path string) string {
	if path == "" {
		return ""
	}
	name := programName(path)
	if !interpreter(name) {
		return name
	}
	line, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil {
		return name
	}
	if script := scriptOf(strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")); script != "" {
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

// scriptOf finds the name of the script in an interpreter's command line, without
// its folder and ending. It is "" for a script that has none.
func scriptOf(args []string) string {
	for i := 1; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "-m" && i+1 < len(args): // Python
			return args[i+1]
		case arg == "-jar" && i+1 < len(args): // Java
			return stem(args[i+1])
		case arg == "-c" || arg == "-e" || arg == "":
			return ""
		case arg == "-cp" || arg == "-classpath" || arg == "-X" || arg == "-W" || arg == "-r" || arg == "--require" || arg == "-I":
			i++
		case !strings.HasPrefix(arg, "-"):
			return stem(arg)
		}
	}
	return ""
}

func stem(path string) string {
	name := filepath.Base(path)
	if short := strings.TrimSuffix(name, filepath.Ext(name)); short != "" {
		return short
	}
	return name
}
