package atomicfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// errLink reports a symbolic link in a path.
var errLink = errors.New("is a link, or in a folder that is one; expected the path of the file itself")

// openNoLinks opens a file by its absolute path, one folder after the other, and follows no link,
// whatever other programs rename meanwhile. The path of the open file must be the given one.
func openNoLinks(path string) (*os.File, error) {
	folder, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	names := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i, name := range names {
		flags := unix.O_PATH | unix.O_DIRECTORY
		if i == len(names)-1 {
			flags = unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY
		}
		next, err := unix.Openat(folder, name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil && isLinkAt(folder, name) {
			err = errLink
		}
		_ = unix.Close(folder) // it was only a place
		if err != nil {
			return nil, err
		}
		folder = next
	}
	f := os.NewFile(uintptr(folder), path)
	if opened, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", folder)); err != nil || opened != filepath.Clean(path) {
		_ = f.Close() // it was not read
		return nil, errors.Join(errors.New("was renamed meanwhile, or has another spelling"), err)
	}
	return f, nil
}

func isLinkAt(folder int, name string) bool {
	var stat unix.Stat_t
	return unix.Fstatat(folder, name, &stat, unix.AT_SYMLINK_NOFOLLOW) == nil && stat.Mode&unix.S_IFMT == unix.S_IFLNK
}
