package atspi

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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

// Consent is bound to a program's identity. Two programs with the same name must differ in it, and an
// update by the system must not change it.

// maxHashed is the maximum size of a hashed file, in bytes. A longer file is identified
// by its size and modification time.
const maxHashed = 64 << 20

// programIdentity returns the identity of a process's program: the paths of its executable and of the
// script that an interpreter runs. It includes a digest of their contents if the person can change them,
// since then no system update replaces them. For a Flatpak it is the app ID.
func programIdentity(pid int, executable string, args []string) string {
	if executable == "" {
		return ""
	}
	if id := process.FlatpakID(pid); id != "" {
		return "flatpak:" + id
	}
	here := process.SharesMountNamespace(pid) || process.RunsFile(pid, executable)
	parts := []string{describeFile("/proc/"+strconv.Itoa(pid)+"/exe", executable, here)}
	if len(args) > 0 {
		parts = append(parts, script(pid, executable, args))
	}
	return strings.Join(parts, "\n")
}

// script returns the script that an interpreter runs. For a line of code or a module it returns a digest of
// the command line and the working folder.
func script(pid int, executable string, args []string) string {
	if _, path := process.FindScript(process.ProgramName(executable), args); path != "" {
		if real, file := process.ResolvePath(pid, path); real != "" {
			return describeFile(file, real, process.SharesMountNamespace(pid))
		}
	}
	sum := sha256.Sum256([]byte(strings.Join(args, "\x00") + "\x00\x00" + process.WorkingDir(pid)))
	return "command:" + hex.EncodeToString(sum[:])
}

// describeFile returns the name of a file. It adds a digest of the contents if the file is modifiable, or
// if here is false: then the name may mean another file to this process.
func describeFile(file, name string, here bool) string {
	if here && !isModifiable(name) {
		return name
	}
	content, err := contentOf(file)
	if err != nil {
		return name + " (not to be read)"
	}
	return name + " " + content
}

func contentOf(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // it was only read
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("no regular file")
	}
	if info.Size() > maxHashed {
		return fmt.Sprintf("size:%d changed:%d", info.Size(), info.ModTime().UnixNano()), nil
	}
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(f, maxHashed)); err != nil {
		return "", err
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), nil
}

// isModifiable reports whether others than the system can change the file: it lies outside of the package
// folders, or its permissions allow others to write it.
func isModifiable(path string) bool {
	for _, folder := range []string{"/usr/", "/bin/", "/sbin/", "/lib/", "/lib64/", "/opt/", "/snap/", "/nix/store/", "/gnu/store/"} {
		if strings.HasPrefix(path, folder) {
			return othersMayWrite(path) || othersMayWrite(filepath.Dir(path))
		}
	}
	return true
}
