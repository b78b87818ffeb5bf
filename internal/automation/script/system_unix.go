//go:build unix && !linux

package script

import "syscall"

// root is the folder in which a child is.
const root = "/"

// nonBlocking makes opening a FIFO without a writer return at once.
const nonBlocking = syscall.O_NONBLOCK | syscall.O_NOCTTY

// resident is not known here: the child looks at itself.
func resident(int) int64 { return 0 }
