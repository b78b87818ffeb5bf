//go:build unix

package doctor

import (
	"io/fs"
	"os"
	"syscall"

	"github.com/gybob/aai-gateway/internal/sanitize"
)

// errNoRoom is the system's error for a full disk.
const errNoRoom = syscall.ENOSPC

// isOwnedByUser reports whether the folder belongs to this user.
func isOwnedByUser(folder string) bool {
	info, err := os.Stat(folder)
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}

// isWritableByOthers reports whether others may change a file.
func isWritableByOthers(info fs.FileInfo) bool { return info.Mode().Perm()&0o022 != 0 }

// allowCommand returns the command that gives the owner all rights on a folder.
func allowCommand(folder string) string { return "chmod u+rwx " + sanitize.ShellJoin(folder) }

// unsetCommand returns the command that removes a variable.
func unsetCommand(variable string) string { return "unset " + sanitize.ShellJoin(variable) }
