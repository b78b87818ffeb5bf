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
)

// What a program is, exactly: consent is bound to it, so two that are only called the
// same must differ here, and one that is updated by the system must not.

// maxHashed is how long a file may be whose contents are looked at, in bytes. A longer
// one is told by its length and when it was changed.
const maxHashed = 64 << 20

// programOf says what a process runs: the path of its executable, and of the script
// that an interpreter runs; what is in them where the person could change it, and no
// update of the system's would come. A Flatpak is its app's id.
func programOf(pid int, executable string, args []string) string {
	if executable == "" {
		return ""
	}
	process := "/proc/" + strconv.Itoa(pid)
	if id := flatpakOf(process); id != "" {
		return "flatpak:" + id
	}
	parts := []string{described(process+"/exe", executable)}
	if len(args) > 0 {
		parts = append(parts, script(process, args))
	}
	return strings.Join(parts, "\n")
}

// script says which script an interpreter runs. What is none, such as a line of code
// or a module, is the whole command line, and the folder where that means something.
func script(process string, args []string) string {
	if _, path := scriptOf(args); path != "" {
		folder := ""
		if !filepath.IsAbs(path) {
			folder, _ = os.Readlink(process + "/cwd")
			path = filepath.Join(folder, path)
		}
		// As the process sees it, which may have folders of its own.
		if real, err := filepath.EvalSymlinks(process + "/root" + path); err == nil {
			if info, err := os.Stat(real); err == nil && info.Mode().IsRegular() {
				return described(real, strings.TrimPrefix(real, process+"/root"))
			}
		}
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return described(real, real)
		}
	}
	folder, _ := os.Readlink(process + "/cwd")
	sum := sha256.Sum256([]byte(strings.Join(args, "\x00") + "\x00\x00" + folder))
	return "command:" + hex.EncodeToString(sum[:])
}

// described is the name of a file, and what is in it where somebody but the system may
// change that.
func described(file, name string) string {
	if !changeable(name) {
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

// changeable reports whether the file is not the system's alone: it is in none of the
// folders where packages are installed, or there somebody else may write it.
func changeable(path string) bool {
	for _, folder := range []string{"/usr/", "/bin/", "/sbin/", "/lib/", "/lib64/", "/opt/", "/snap/", "/nix/store/", "/gnu/store/"} {
		if strings.HasPrefix(path, folder) {
			return othersMayWrite(path) || othersMayWrite(filepath.Dir(path))
		}
	}
	return true
}

// flatpakOf is the id of the app that the process is of, if it is one of Flatpak's: it
// has a root of its own with a file that says so.
func flatpakOf(process string) string {
	theirs, err := os.Readlink(process + "/ns/mnt")
	if ours, e := os.Readlink("/proc/self/ns/mnt"); err != nil || e != nil || theirs == ours {
		return ""
	}
	text, err := os.ReadFile(process + "/root/.flatpak-info")
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
