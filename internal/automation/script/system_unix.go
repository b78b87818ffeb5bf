//go:build unix && !linux

package script

// root is the working directory of a child.
const root = "/"

// resident returns 0: the child watches its memory itself.
func resident(int) int64 { return 0 }
