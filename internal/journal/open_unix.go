//go:build unix

package journal

import "syscall"

// guarded opens nothing by a symbolic link in the last place, since nobody may lead the
// journal elsewhere, and waits for nobody at the other end of a pipe.
const guarded = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
