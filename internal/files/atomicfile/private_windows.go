package atomicfile

import (
	"io/fs"
	"os"
)

// noFollow is nothing that a file can be opened with on Windows.
const noFollow = 0

// isReadableByOthers is not known from the mode: files of a profile are its owner's.
func isReadableByOthers(fs.FileInfo) bool { return false }

// isOwnedByUser is not known from what a folder says: files of a profile are its owner's.
func isOwnedByUser(fs.FileInfo) bool { return true }

// copyOwnerAndMode does nothing: a file of a profile is its owner's, whatever its mode.
func copyOwnerAndMode(*os.File, fs.FileInfo) error { return nil }
