package ax

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway/internal/process"
)

// programID returns the name of a program in every run: its file's in lower case.
func programID(executable string) string {
	if executable == "" {
		return ""
	}
	return strings.ToLower(path.Base(executable))
}

// bundleName returns the name of the outermost app bundle that contains a program; "" for a program outside of bundles.
func bundleName(executable string) string {
	before, _, found := strings.Cut(executable, ".app/")
	if !found {
		return ""
	}
	return path.Base(before)
}

// isBrowser reports whether a program is a known browser.
func isBrowser(executable string) bool {
	return slices.Contains([]string{
		"Safari", "Google Chrome", "Chromium", "Microsoft Edge", "Brave Browser", "Vivaldi", "Opera", "Arc", "Firefox",
	}, bundleName(executable))
}

// identify returns the identity of a program, see desktop.App.ProgramIdentity. script is the path of the script that it runs, and hash
// that of its signed code. Programs in /System cannot be changed and need none.
func identify(executable, script string, args []string, hash string) string {
	if executable == "" {
		return ""
	}
	parts := []string{executable}
	switch {
	case strings.HasPrefix(executable, "/System/"):
	case hash != "":
		parts[0] += " code:" + hash
	default:
		parts[0] = describeFile(executable)
	}
	switch {
	case path.IsAbs(script):
		parts = append(parts, describeFile(script))
	case script != "" || process.IsInterpreter(programID(executable)): // code on the command line, or a script in a folder that is not known
		sum := sha256.Sum256([]byte(strings.Join(args, "\x00")))
		parts = append(parts, "command:"+hex.EncodeToString(sum[:]))
	}
	return strings.Join(parts, "\n")
}

// maxHashed is the maximum size of a hashed file, in bytes. A longer file is identified by its size and modification time.
const maxHashed = 64 << 20

// describeFile returns the name of a file with a digest of its contents.
func describeFile(name string) string {
	f, err := os.Open(name)
	if err != nil {
		return name + " (not to be read)"
	}
	defer f.Close() //nolint:errcheck // it was only read
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return name + " (not to be read)"
	}
	if info.Size() > maxHashed {
		return fmt.Sprintf("%s size:%d changed:%d", name, info.Size(), info.ModTime().UnixNano())
	}
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(f, maxHashed)); err != nil {
		return name + " (not to be read)"
	}
	return name + " sha256:" + hex.EncodeToString(h.Sum(nil))
}
