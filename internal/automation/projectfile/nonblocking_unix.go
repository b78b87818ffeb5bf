//go:build unix

package projectfile

import "syscall"

// nonBlocking makes opening a FIFO without a writer return at once.
const nonBlocking = syscall.O_NONBLOCK | syscall.O_NOCTTY
