package userinfo

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// initialUserNamespaceInode is the number of the space of users that the kernel begins with
// (PROC_USER_INIT_INO of linux/proc_ns.h).
const initialUserNamespaceInode = 0xEFFFFFFD

// checkInitialRoot says why who is root here may be anybody: whoever likes makes a space of users
// in which they are, and a folder /etc in it that is theirs.
func checkInitialRoot() error {
	if err := checkInitialUserNamespace(); err != nil {
		return fmt.Errorf("%w, where anybody can be root", err)
	}
	return nil
}

// CheckUserNamespace says why a screen of the person's may be hidden from this process: whoever
// likes makes a space of users, and in it one of mounts and of networks where none is.
func CheckUserNamespace() error {
	if err := checkInitialUserNamespace(); err != nil {
		return fmt.Errorf("%w, where a screen may be hidden from it", err)
	}
	return nil
}

// checkInitialUserNamespace says why this process's space of users is not the computer's own.
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

// openUserNamespace is this process's space of users. The kernel is asked for it by a handle, which
// nothing that is mounted over /proc changes; before Linux 6.11 it was found only there.
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
		return -1, err // not an older kernel: somebody keeps us from looking
	}
	return unix.Open("/proc/self/ns/user", unix.O_RDONLY|unix.O_CLOEXEC, 0)
}
