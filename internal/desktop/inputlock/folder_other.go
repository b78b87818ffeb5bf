//go:build !linux

package inputlock

import (
	"os"
	"path/filepath"
)

// Folder returns the folder that all gateways of this account share. No input is made on this
// system yet, so it trusts the environment.
func Folder() (string, error) {
	folder, err := os.UserCacheDir()
	return filepath.Join(folder, "aai-gateway", "seat"), err
}
