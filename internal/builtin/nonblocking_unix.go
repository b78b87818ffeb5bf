//go:build unix

package builtin

import "syscall"

// nonBlocking makes opening a FIFO without a writer return at once.
const nonBlocking = syscall.O_NONBLOCK | syscall.O_NOCTTY

// directoryOnly makes opening anything but a directory fail before it has an effect.
const directoryOnly = syscall.O_DIRECTORY | nonBlocking

// directorySuffix after a path does the same for functions without flags: only a directory
// resolves further, and the system checks this before it opens the file.
const directorySuffix = "/."
