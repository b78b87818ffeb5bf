package atomicfile

import (
	"io/fs"
	"os"
)

// noFollow has no equivalent on Windows.
const noFollow = 0

// isReadableByOthers returns false: the mode does not tell, and files in a profile belong to its
// owner.
func isReadableByOthers(fs.FileInfo) bool { return false }

// isOwnedByUser returns true: files in a profile belong to its owner.
func isOwnedByUser(fs.FileInfo) bool { return true }

// copyOwnerAndMode does nothing: a file in a profile belongs to its owner, regardless of its
// mode.
func copyOwnerAndMode(*os.File, fs.FileInfo) error { return nil }
