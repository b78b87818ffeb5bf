package wintree

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway/internal/process"
)

// base returns the last part of a path with backslashes or slashes.
func base(path string) string { return path[strings.LastIndexAny(path, `\/`)+1:] }

// programID returns the name of a program in every run: its file's in lower case, without ".exe".
func programID(executable string) string {
	return strings.TrimSuffix(strings.ToLower(base(executable)), ".exe")
}

// scriptOf returns the name and the path of the script that an interpreter runs; "" for other programs and if it cannot be told.
func scriptOf(executable string, args []string) (name, path string) {
	id := programID(executable)
	if slices.Contains([]string{"wscript", "cscript", "mshta"}, id) {
		for _, arg := range args[min(1, len(args)):] {
			if !strings.HasPrefix(arg, "/") {
				name, _, _ = strings.Cut(base(arg), ".")
				return strings.ToLower(name), arg
			}
		}
		return "", ""
	}
	id = strings.TrimSuffix(id, "w") // pythonw and javaw have no console
	if !process.IsInterpreter(id) {
		return "", ""
	}
	name, path = process.FindScript(id, args)
	return base(name), path
}

// maxHashed is the maximum size of a hashed file, in bytes. A longer file is identified by its size and modification time.
const maxHashed = 64 << 20

// describeFile returns the name of a file. It adds a digest of the contents if the person can change the file, since then no update of
// the system replaces it.
func describeFile(path string, mayChange func(string) bool) string {
	if !mayChange(path) {
		return path
	}
	f, err := os.Open(path)
	if err != nil {
		return path + " (not to be read)"
	}
	defer f.Close() //nolint:errcheck // it was only read
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return path + " (not to be read)"
	}
	if info.Size() > maxHashed {
		return fmt.Sprintf("%s size:%d changed:%d", path, info.Size(), info.ModTime().UnixNano())
	}
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(f, maxHashed)); err != nil {
		return path + " (not to be read)"
	}
	return path + " sha256:" + hex.EncodeToString(h.Sum(nil))
}

// identify returns the identity of a program, see desktop.App.ProgramIdentity. script is the path of the script that it runs.
func identify(executable, script string, args []string, mayChange func(string) bool) string {
	if executable == "" {
		return ""
	}
	parts := []string{describeFile(executable, mayChange)}
	switch name := strings.TrimSuffix(programID(executable), "w"); {
	case script != "" && strings.ContainsAny(script, `:\/`):
		parts = append(parts, describeFile(script, mayChange))
	case process.IsInterpreter(name) || script != "": // code on the command line, or a script in a folder that is not known
		sum := sha256.Sum256([]byte(strings.Join(args, "\x00")))
		parts = append(parts, "command:"+hex.EncodeToString(sum[:]))
	}
	return strings.Join(parts, "\n")
}
