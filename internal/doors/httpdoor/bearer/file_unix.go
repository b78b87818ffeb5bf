//go:build !windows

package bearer

import "io/fs"

// othersMayRead reports whether a token is a secret no more.
func othersMayRead(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }
