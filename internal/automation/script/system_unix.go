//go:build unix && !linux

package script

import "syscall"

// root is the working directory of a child.
const root = "/"

// nonBlocking makes opening a FIFO without a writer return at once.
const nonBlocking = syscall.O_NONBLOCK | syscall.O_NOCTTY

// resident returns 0: the child watches its memory itself.
func resident(int) int64 { return 0 }
