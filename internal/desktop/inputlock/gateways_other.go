//go:build !linux && !windows

package inputlock

import (
	"context"
	"os"
	"path/filepath"
)

// Claims does nothing here: no gateway on this system acts on programs.
type Claims struct{ Folder func() (string, error) }

// Claim implements gateway.Claims.
func (Claims) Claim(context.Context, int) (leave func(), waited bool, err error) {
	return func() {}, false, nil
}

// Folder returns the folder that all gateways of this account share. No input is made on this
// system yet, so it trusts the environment.
func Folder() (string, error) {
	folder, err := os.UserCacheDir()
	return filepath.Join(folder, "aai-gateway", "seat"), err
}
