//go:build unix

package atomicfile

import (
	"errors"
	"os"
)

// SyncDir makes the entries of a folder durable.
func SyncDir(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
