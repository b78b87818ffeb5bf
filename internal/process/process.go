// Package process says what a process runs, as the kernel tells it in /proc: its
// program, and the script where that is an interpreter. Where there is no /proc it
// knows nothing. It imports nothing of ours.
package process

import (
	"bytes"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
)

func procDir(pid int) string { return "/proc/" + strconv.Itoa(pid) }

// Executable is the path of the process's program, "" if that cannot be known.
func Executable(pid int) string {
	path, err := os.Readlink(procDir(pid) + "/exe")
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(path, " (deleted)") // it was upgraded while it runs
}

// The fields of /proc/<pid>/stat, as proc(5) counts them, behind the name, which may
// hold anything and after which comes field 3.
const (
	fieldPPID      = 4 - 3
	fieldStartTime = 22 - 3
)

// StartTime is when the process was started, in the kernel's words, "" if it has ended.
// A number of a process is given again; with another beginning.
func StartTime(pid int) string { return stat(pid, fieldStartTime) }

// ParentPID is the process that the process is a child of, 0 if there is none.
func ParentPID(pid int) int {
	parent, err := strconv.Atoi(stat(pid, fieldPPID))
	if err != nil {
		return 0
	}
	return parent
}

func stat(pid, field int) string {
	text, err := os.ReadFile(procDir(pid) + "/stat")
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
	line, err := os.ReadFile(procDir(pid) + "/cmdline")
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

func baseWithoutExt(path string) string {
	name := filepath.Base(path)
	if short := strings.TrimSuffix(name, filepath.Ext(name)); short != "" {
		return short
	}
	return name
}

// ResolvePath is the real path of what a process means by a path, and where that file is found
// from here, as the process sees it, which may have folders of its own. Both are "" if
// there is no such file.
func ResolvePath(pid int, path string) (real, file string) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(WorkingDir(pid), path)
	}
	root := procDir(pid) + "/root"
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

// WorkingDir is the process's working folder.
func WorkingDir(pid int) string {
	path, _ := os.Readlink(procDir(pid) + "/cwd")
	return path
}

// SharesMountNamespace reports whether a path means to the process what it means here.
func SharesMountNamespace(pid int) bool {
	theirs, err := os.Readlink(procDir(pid) + "/ns/mnt")
	ours, e := os.Readlink("/proc/self/ns/mnt")
	return err == nil && e == nil && theirs == ours
}

// RunsFile reports whether the file that the process runs is the one that the path means
// here: whoever makes folders of their own has any path in them.
func RunsFile(pid int, path string) bool {
	runs, err := os.Stat(procDir(pid) + "/exe")
	if err != nil {
		return false
	}
	is, err := os.Stat(path)
	return err == nil && os.SameFile(runs, is)
}

// FilesystemType is the kind of the file system that is mounted at the path, for this process;
// "" if there is none.
func FilesystemType(path string) string {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	kind := ""
	for line := range strings.Lines(string(text)) {
		place, source, _ := strings.Cut(line, " - ") // proc_pid_mountinfo(5)
		if fields := strings.Fields(place); len(fields) > 4 && fields[4] == path {
			kind, _, _ = strings.Cut(source, " ")
		}
	}
	return kind
}

// FlatpakID is the id of the app that the process is of, if it is one of Flatpak's: it has
// a root of its own with a file that says so, and in that the folders of that app and of
// a runtime, as they are installed here. The file alone anybody can write.
func FlatpakID(pid int) string {
	if SharesMountNamespace(pid) {
		return ""
	}
	id := flatpakInfo(pid)
	if id == "" || id != filepath.Base(id) || strings.ContainsAny(id, `*?[\`) {
		return ""
	}
	program := Executable(pid)
	app, runtime := "/app/"+id+"/*/*/*/files", "/runtime/*/*/*/*/files"
	if strings.HasPrefix(program, "/app/") && installed(pid, "/app", app) ||
		strings.HasPrefix(program, "/usr/") && installed(pid, "/app", app) && installed(pid, "/usr", runtime) {
		return id
	}
	return ""
}

// installed reports whether a folder of the process is one of those in an installation of
// Flatpak's: the system's, or the account's own.
func installed(pid int, folderThere, pattern string) bool {
	is, err := os.Stat(procDir(pid) + "/root" + folderThere)
	if err != nil {
		return false
	}
	installations := []string{"/var/lib/flatpak"}
	if u, err := user.LookupId(strconv.Itoa(os.Getuid())); err == nil {
		installations = append(installations, filepath.Join(u.HomeDir, ".local/share/flatpak"))
	}
	for _, installation := range installations {
		found, _ := filepath.Glob(installation + pattern) // the pattern is right
		for _, path := range found {
			if known, err := os.Stat(path); err == nil && os.SameFile(is, known) {
				return true
			}
		}
	}
	return false
}

// flatpakInfo is the app that the file of Flatpak's names.
func flatpakInfo(pid int) string {
	text, err := os.ReadFile(procDir(pid) + "/root/.flatpak-info")
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
