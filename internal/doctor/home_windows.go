package doctor

import (
	"io/fs"
	"syscall"

	"github.com/gybob/aai-gateway/internal/sanitize"
)

// errNoRoom is the system's error for a full disk: ERROR_DISK_FULL.
const errNoRoom = syscall.Errno(112)

func isOwnedByUser(string) bool { return true }

// isWritableByOthers returns false: modes say nothing here.
func isWritableByOthers(fs.FileInfo) bool { return false }

// allowCommand returns the command of PowerShell that gives this account all rights on a folder.
func allowCommand(folder string) string {
	return "icacls " + sanitize.ShellJoin(folder) + ` /grant "${env:USERNAME}:(OI)(CI)F"`
}

// unsetCommand returns the command of PowerShell that removes a variable.
func unsetCommand(variable string) string {
	return "Remove-Item " + sanitize.ShellJoin("Env:"+variable)
}
