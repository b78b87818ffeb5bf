package userinfo

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// initialUserNamespaceInode is the inode of the initial user namespace (PROC_USER_INIT_INO in
// linux/proc_ns.h).
const initialUserNamespaceInode = 0xEFFFFFFD

// checkInitialRoot returns an error if uid 0 may be any user: every user can create a user
// namespace in which they are root, with a folder /etc of their own.
func checkInitialRoot() error {
	if err := checkInitialUserNamespace(); err != nil {
		return fmt.Errorf("%w, where anybody can be root", err)
	}
	return nil
}

// CheckUserNamespace returns an error if the person's screen may be hidden from this process:
// every user can create a user namespace, and in it mount and network namespaces without a
// screen.
func CheckUserNamespace() error {
	if err := checkInitialUserNamespace(); err != nil {
		return fmt.Errorf("%w, where a screen may be hidden from it", err)
	}
	return nil
}

// checkInitialUserNamespace returns an error unless this process is in the initial user
// namespace.
func checkInitialUserNamespace() error {
	fd, err := openUserNamespace()
	if err != nil {
		return err
	}
	defer unix.Close(fd) //nolint:errcheck // nothing was written
	var kind unix.Statfs_t
	var info unix.Stat_t
	if err := errors.Join(unix.Fstatfs(fd, &kind), unix.Fstat(fd, &info)); err != nil {
		return err
	}
	if kind.Type != unix.NSFS_MAGIC || info.Ino != initialUserNamespaceInode {
		return errors.New("this process is in a user namespace")
	}
	return nil
}

// openUserNamespace opens the user namespace of this process. It uses a pidfd, which mounts over
// /proc do not affect; kernels before Linux 6.11 offer only /proc.
func openUserNamespace() (int, error) {
	self, err := unix.PidfdOpen(unix.Getpid(), 0)
	if err == nil {
		defer unix.Close(self) //nolint:errcheck // nothing was written
		var fd int
		if fd, err = unix.IoctlRetInt(self, unix.PIDFD_GET_USER_NAMESPACE); err == nil {
			return fd, nil
		}
	}
	if !errors.Is(err, unix.ENOSYS) && !errors.Is(err, unix.ENOTTY) && !errors.Is(err, unix.EINVAL) {
		return -1, err // not an older kernel: the call is blocked
	}
	return unix.Open("/proc/self/ns/user", unix.O_RDONLY|unix.O_CLOEXEC, 0)
}
