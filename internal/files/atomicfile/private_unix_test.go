//go:build unix

package atomicfile_test

import (
	"fmt"
	"io/fs"
)

// checkPrivate returns an error if others than the owner have permissions for a file.
func checkPrivate(_ string, info fs.FileInfo) error {
	if info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("its mode is %v", info.Mode())
	}
	return nil
}
