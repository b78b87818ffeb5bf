//go:build unix

package audit

import "syscall"

// noFollow opens nothing by a symbolic link in the last place, since nobody may lead the
// journal elsewhere, and waits for nobody at the other end of a pipe.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
