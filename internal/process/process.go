// Package process provides facts about processes, identifies peers, and starts subprocesses.
// [Executable], [FindScript] and related functions read the program of a process from /proc;
// without /proc they return zero values. [PeerIdentity] returns the verified program at the other
// end of standard input, regardless of its own claims. It attributes, and is no security
// boundary: code of the same account can make another program speak for it. It supports only
// Linux. [Start] starts a [Subprocess] that ends with this process, together with its own
// children, however this process ends.
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

// Executable returns the path of the process's program, or "" if unknown.
func Executable(pid int) string {
	path, err := os.Readlink(procDir(pid) + "/exe")
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(path, " (deleted)") // replaced by an update while running
}

// The fields of /proc/<pid>/stat as numbered in proc(5), counted from field 3, which follows the
// name. The name may contain any character.
const (
	fieldPPID      = 4 - 3
	fieldStartTime = 22 - 3
)

// StartTime returns the start time of the process in clock ticks since boot, or "" if it has
// ended. It distinguishes processes that reuse an id.
func StartTime(pid int) string { return stat(pid, fieldStartTime) }

// ParentPID returns the id of the parent process, or 0.
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

// Arguments returns the arguments that the process shows, its name first.
func Arguments(pid int) []string {
	line, err := os.ReadFile(procDir(pid) + "/cmdline")
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")
}

// ProgramName returns the base name of a program without the additions of packagers, such as "-bin".
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

// ResolvePath returns the real path of a file as the process pid sees it, and the path by which
// the current process reaches it: pid may have other mounts. Both are "" if there is no such file.
func ResolvePath(pid int, path string) (real, file string) {
	if !filepath.IsAbs(path) {
		folder := WorkingDir(pid)
		if folder == "" {
			return "", ""
		}
		path = filepath.Join(folder, path)
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

// WorkingDir returns the working folder of the process.
func WorkingDir(pid int) string {
	path, _ := os.Readlink(procDir(pid) + "/cwd")
	return path
}

// SharesMountNamespace reports whether paths mean the same to the process pid and to the current one.
func SharesMountNamespace(pid int) bool {
	theirs, err := os.Readlink(procDir(pid) + "/ns/mnt")
	ours, e := os.Readlink("/proc/self/ns/mnt")
	return err == nil && e == nil && theirs == ours
}

// RunsFile reports whether the process pid runs the file that the current process sees at path. In
// another mount namespace, the path that pid reports may lead to another file.
func RunsFile(pid int, path string) bool {
	runs, err := os.Stat(procDir(pid) + "/exe")
	if err != nil {
		return false
	}
	is, err := os.Stat(path)
	return err == nil && os.SameFile(runs, is)
}

// FilesystemType returns the type of the file system mounted at the path for this process, or "".
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

// FlatpakID returns the id of the process's Flatpak app, or "". The process must have its own
// root with Flatpak's info file, and in it the folders of that app and of a runtime as installed
// here. The file alone proves nothing, since any user can write one.
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

// installed reports whether a folder of the process is part of a Flatpak installation, of the
// system or of the account.
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
		found, _ := filepath.Glob(installation + pattern) // the pattern is valid
		for _, path := range found {
			if known, err := os.Stat(path); err == nil && os.SameFile(is, known) {
				return true
			}
		}
	}
	return false
}

// flatpakInfo returns the app in Flatpak's info file.
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
