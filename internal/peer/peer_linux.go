package peer

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"aai/internal/process"
)

// generations is how many ancestors are looked at.
const generations = 64

// A handle holds a process fast: as long as it is alive, its number is its own.
type handle struct{ fd, pid int }

func hold(pid int) (*handle, error) {
	if pid <= 0 {
		return nil, unix.ESRCH
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return nil, err
	}
	return &handle{fd, pid}, nil
}

func (h *handle) close() { _ = unix.Close(h.fd) } // nothing was written

// alive reports whether the process still is: then all that was read under its number
// is of it, and of no later one.
func (h *handle) alive() bool {
	err := unix.PidfdSendSignal(h.fd, 0, nil, 0)
	return err == nil || errors.Is(err, unix.EPERM)
}

// Of is the identity of the program at the other end of in, "" if it is not certain.
// It is to be asked before the first message: who has sent that may have ended.
//
// A socket says who made it. The other end of a pipe is held by one of those who
// started this process. Anything else, such as a file or a terminal, is of the parent.
// What only starts other programs is passed over.
func Of(in *os.File) string {
	h, err := other(in)
	for range generations {
		if err != nil {
			return ""
		}
		f := factsOf(h.pid)
		if !f.launches() {
			alive := h.alive()
			h.close()
			if !alive {
				return ""
			}
			return f.identity()
		}
		h, err = starter(h)
	}
	if err == nil {
		h.close()
	}
	return ""
}

// starter holds the parent of the process, and lets go of that.
func starter(h *handle) (*handle, error) {
	defer h.close()
	return parentOf(h.pid, h.alive)
}

// parentOf holds the parent of a process: nobody can have got its number if the child
// still has it when it is held. The first process is nobody's parent: it adopts.
func parentOf(pid int, alive func() bool) (*handle, error) {
	parent := process.Parent(pid)
	if parent <= 1 {
		return nil, unix.ESRCH
	}
	h, err := hold(parent)
	if err != nil {
		return nil, err
	}
	if process.Parent(pid) != parent || !alive() {
		h.close()
		return nil, unix.ESRCH
	}
	return h, nil
}

func ownParent() (*handle, error) { return parentOf(os.Getpid(), func() bool { return true }) }

// other holds who is at the other end of in.
func other(in *os.File) (*handle, error) {
	info, err := in.Stat()
	if err != nil {
		return nil, err
	}
	switch {
	case info.Mode()&os.ModeSocket != 0:
		return onDescriptor(in, socketPeer)
	case info.Mode()&os.ModeNamedPipe != 0:
		if h, err := onDescriptor(in, writer); h != nil {
			return h, err
		}
	}
	return ownParent()
}

// onDescriptor calls find with the number of the file, and leaves it as it is: to ask
// for the number alone would make reading block.
func onDescriptor(in *os.File, find func(fd int) (*handle, error)) (h *handle, err error) {
	raw, err := in.SyscallConn()
	if err != nil {
		return nil, err
	}
	if e := raw.Control(func(fd uintptr) { h, err = find(int(fd)) }); e != nil {
		return nil, e
	}
	return h, err
}

// socketPeer holds who made the pair of sockets, or the one that was connected to.
func socketPeer(fd int) (*handle, error) {
	pidfd, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PEERPIDFD)
	if err == nil {
		h := &handle{fd: pidfd}
		if h.pid, err = pidOf(pidfd); err != nil {
			h.close()
			return nil, err
		}
		return h, nil
	}
	if !errors.Is(err, unix.ENOPROTOOPT) {
		return nil, err
	}
	// A kernel before 6.5 knows the number alone. Whoever has it and began after this
	// process is another one.
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return nil, err
	}
	h, err := hold(int(cred.Pid))
	if err != nil {
		return nil, err
	}
	if !older(h.pid, os.Getpid()) {
		h.close()
		return nil, unix.ESRCH
	}
	return h, nil
}

// older reports whether the process began before the other.
func older(pid, than int) bool {
	began, err := strconv.ParseUint(process.Started(pid), 10, 64)
	if err != nil {
		return false
	}
	other, err := strconv.ParseUint(process.Started(than), 10, 64)
	return err == nil && began <= other
}

// pidOf is the number of the process that a handle of the kernel's holds. One that has
// ended, or is of another space of processes, has none.
func pidOf(pidfd int) (int, error) {
	text, err := os.ReadFile("/proc/self/fdinfo/" + strconv.Itoa(pidfd))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		if name != "Pid" {
			continue
		}
		if pid, err := strconv.Atoi(strings.TrimSpace(value)); err == nil && pid > 0 {
			return pid, nil
		}
	}
	return 0, fmt.Errorf("the peer of the socket is not to be seen: %w", unix.ESRCH)
}

// writer holds the nearest ancestor that may write into the pipe, or nobody.
func writer(fd int) (*handle, error) {
	pipe, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
	if err != nil {
		return nil, err
	}
	h, err := ownParent()
	for range generations {
		if err != nil || writes(h.pid, pipe) {
			return h, err
		}
		h, err = starter(h)
	}
	if err == nil {
		h.close()
	}
	return nil, err
}

// writes reports whether the process has the pipe open for writing.
func writes(pid int, pipe string) bool {
	folder := "/proc/" + strconv.Itoa(pid) + "/fd/"
	open, err := os.ReadDir(folder)
	if err != nil {
		return false
	}
	for _, entry := range open {
		name := folder + entry.Name()
		if to, err := os.Readlink(name); err != nil || to != pipe {
			continue
		}
		// The kernel says by the mode of the link how the file is open.
		if info, err := os.Lstat(name); err == nil && info.Mode()&0o200 != 0 {
			return true
		}
	}
	return false
}
