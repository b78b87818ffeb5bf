//go:build unix

package wholefile

import (
	"errors"
	"os"
)

// SyncFolder makes it last which files are in a folder.
func SyncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
