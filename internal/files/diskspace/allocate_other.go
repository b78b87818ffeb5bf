//go:build !linux

package diskspace

import "os"

// Allocate grows the file to size bytes that occupy the disk. It overwrites the content.
func Allocate(f *os.File, size int64) error { return allocateByWriting(f, size) }
