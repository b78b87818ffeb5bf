//go:build !windows

package atomicfile

import "os"

// Rename renames a file within its folder, and replaces one of that name.
func Rename(from, to string) error { return os.Rename(from, to) }

// Open opens a file for reading, so that others can replace it meanwhile.
func Open(path string) (*os.File, error) { return os.Open(path) }
