//go:build unix

package atomicfile

import (
	"errors"
	"os"
)

// SyncDir makes it last which files are in a folder.
func SyncDir(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
