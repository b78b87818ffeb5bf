//go:build unix

package builtin

import "syscall"

// nonBlocking makes opening a FIFO without a writer return at once.
const nonBlocking = syscall.O_NONBLOCK | syscall.O_NOCTTY

// directoryOnly makes opening what is no folder fail, before anything is done to it.
const directoryOnly = syscall.O_DIRECTORY | nonBlocking

// directorySuffix behind a path does the same where there are no flags: only a folder has
// anything below it, and the system looks before it opens.
const directorySuffix = "/."
