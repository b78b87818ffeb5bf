package process

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// maxAncestors is how many ancestors are looked at.
const maxAncestors = 64

// A handle holds a process fast: as long as it is alive, its number is its own.
type pidHandle struct{ fd, pid int }

func openPID(pid int) (*pidHandle, error) {
	if pid <= 0 {
		return nil, unix.ESRCH
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return nil, err
	}
	return &pidHandle{fd, pid}, nil
}

func (h *pidHandle) close() { _ = unix.Close(h.fd) } // nothing was written

// alive reports whether the process still is: then all that was read under its number
// is of it, and of no later one.
func (h *pidHandle) alive() bool {
	err := unix.PidfdSendSignal(h.fd, 0, nil, 0)
	return err == nil || errors.Is(err, unix.EPERM)
}

// PeerIdentity is the identity of the program at the other end of in, "" if it is not certain.
// It is to be asked before the first message: who has sent that may have ended.
//
// A socket says who made it. The other end of a pipe is held by one of those who
// started this process. Anything else, such as a file or a terminal, is of the parent.
// What only starts other programs is passed over.
func PeerIdentity(in *os.File) string {
	h, err := openPeer(in)
	for range maxAncestors {
		if err != nil {
			return ""
		}
		f := readPeerFacts(h.pid)
		if !f.isLauncher() {
			alive := h.alive()
			h.close()
			if !alive {
				return ""
			}
			return f.identity()
		}
		h, err = openParent(h)
	}
	if err == nil {
		h.close()
	}
	return ""
}

// openParent holds the parent of the process, and lets go of that.
func openParent(h *pidHandle) (*pidHandle, error) {
	defer h.close()
	return parentOf(h.pid, h.alive)
}

// parentOf holds the parent of a process: nobody can have got its number if the child
// still has it when it is held. The first process is nobody's parent: it adopts.
func parentOf(pid int, alive func() bool) (*pidHandle, error) {
	parent := ParentPID(pid)
	if parent <= 1 {
		return nil, unix.ESRCH
	}
	h, err := openPID(parent)
	if err != nil {
		return nil, err
	}
	if ParentPID(pid) != parent || !alive() {
		h.close()
		return nil, unix.ESRCH
	}
	return h, nil
}

func openOwnParent() (*pidHandle, error) { return parentOf(os.Getpid(), func() bool { return true }) }

// openPeer holds who is at the other end of in.
func openPeer(in *os.File) (*pidHandle, error) {
	info, err := in.Stat()
	if err != nil {
		return nil, err
	}
	switch {
	case info.Mode()&os.ModeSocket != 0:
		return onDescriptor(in, socketPeer)
	case info.Mode()&os.ModeNamedPipe != 0:
		if h, err := onDescriptor(in, openPipeWriter); h != nil {
			return h, err
		}
	}
	return openOwnParent()
}

// onDescriptor calls find with the number of the file, and leaves it as it is: to ask
// for the number alone would make reading block.
func onDescriptor(in *os.File, find func(fd int) (*pidHandle, error)) (h *pidHandle, err error) {
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
func socketPeer(fd int) (*pidHandle, error) {
	pidfd, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PEERPIDFD)
	if err == nil {
		h := &pidHandle{fd: pidfd}
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
	h, err := openPID(int(cred.Pid))
	if err != nil {
		return nil, err
	}
	if !startedBefore(h.pid, os.Getpid()) {
		h.close()
		return nil, unix.ESRCH
	}
	return h, nil
}

// startedBefore reports whether the process began before the other.
func startedBefore(pid, than int) bool {
	began, err := strconv.ParseUint(StartTime(pid), 10, 64)
	if err != nil {
		return false
	}
	other, err := strconv.ParseUint(StartTime(than), 10, 64)
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

// openPipeWriter holds the nearest ancestor that may write into the pipe, or nobody.
func openPipeWriter(fd int) (*pidHandle, error) {
	pipe, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
	if err != nil {
		return nil, err
	}
	h, err := openOwnParent()
	for range maxAncestors {
		if err != nil || hasPipeOpen(h.pid, pipe) {
			return h, err
		}
		h, err = openParent(h)
	}
	if err == nil {
		h.close()
	}
	return nil, err
}

// hasPipeOpen reports whether the process has the pipe open for writing.
func hasPipeOpen(pid int, pipe string) bool {
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
