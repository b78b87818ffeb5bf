//go:build unix

package audit

import "syscall"

// noFollow makes open fail on a symbolic link as the last element, so that no link can
// redirect the journal, and not block on a pipe.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
