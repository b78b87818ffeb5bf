package atspi

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway/internal/process"
)

// What a program is, exactly: consent is bound to it, so two that are only called the
// same must differ here, and one that is updated by the system must not.

// maxHashed is how long a file may be whose contents are looked at, in bytes. A longer
// one is told by its length and when it was changed.
const maxHashed = 64 << 20

// programIdentity says what a process runs: the path of its executable, and of the script
// that an interpreter runs; what is in them where the person could change it, and no
// update of the system's would come. A Flatpak is its app's id.
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

// script says which script an interpreter runs. What is none, such as a line of code
// or a module, is the whole command line, and the folder where that means something.
func script(pid int, executable string, args []string) string {
	if _, path := process.FindScript(process.ProgramName(executable), args); path != "" {
		if real, file := process.ResolvePath(pid, path); real != "" {
			return describeFile(file, real, process.SharesMountNamespace(pid))
		}
	}
	sum := sha256.Sum256([]byte(strings.Join(args, "\x00") + "\x00\x00" + process.WorkingDir(pid)))
	return "command:" + hex.EncodeToString(sum[:])
}

// describeFile is the name of a file, and what is in it where somebody but the system may
// change that, or where the name means another file here.
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

// isModifiable reports whether the file is not the system's alone: it is in none of the
// folders where packages are installed, or there somebody else may write it.
func isModifiable(path string) bool {
	for _, folder := range []string{"/usr/", "/bin/", "/sbin/", "/lib/", "/lib64/", "/opt/", "/snap/", "/nix/store/", "/gnu/store/"} {
		if strings.HasPrefix(path, folder) {
			return othersMayWrite(path) || othersMayWrite(filepath.Dir(path))
		}
	}
	return true
}
