package doctor

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/gybob/aai-gateway/internal/sanitize"
)

// remount returns the command that makes the folder's file system writable, or "" unless it is
// mounted read-only.
func remount(folder string, why error) string {
	if !errors.Is(why, syscall.EROFS) {
		return ""
	}
	file, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	defer file.Close() //nolint:errcheck // it was only read
	if folder, err = filepath.EvalSymlinks(folder); err != nil {
		return ""
	}
	point, options := "", "remount,rw"
	for lines := bufio.NewScanner(file); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 6 {
			continue
		}
		at := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(fields[4])
		if len(at) < len(point) || folder != at && !strings.HasPrefix(folder, strings.TrimSuffix(at, "/")+"/") {
			continue
		}
		point, options = at, "remount,rw"
		if slices.Contains(strings.Split(fields[5], ","), "ro") &&
			!slices.Contains(strings.Split(fields[len(fields)-1], ","), "ro") {
			options = "remount,bind,rw" // only this mount
		}
	}
	return "mount -o " + options + " " + sanitize.ShellJoin(point)
}
