//go:build !linux

package doctor

import "context"

// locked is not queried: the system's keychain is unlocked at login.
func (d *Doctor) locked(context.Context, *Finding) bool { return false }
