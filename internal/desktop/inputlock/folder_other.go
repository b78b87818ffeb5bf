//go:build !linux

package inputlock

import (
	"os"
	"path/filepath"
)

// Folder is the folder in which all gateways of this account agree. No input is made
// here yet, so it is the account's own by the environment's word.
func Folder() (string, error) {
	folder, err := os.UserCacheDir()
	return filepath.Join(folder, "aai-gateway", "seat"), err
}
