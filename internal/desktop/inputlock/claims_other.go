//go:build !linux

package inputlock

import (
	"context"
)

// Claims does nothing here: no gateway on this system acts on programs.
type Claims struct{ Folder func() (string, error) }

// Claim implements gateway.Claims.
func (Claims) Claim(context.Context, int) (leave func(), waited bool, err error) {
	return func() {}, false, nil
}
