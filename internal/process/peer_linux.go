package process

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// maxAncestors is the maximum number of ancestors that are checked.
const maxAncestors = 64

// A pidHandle is a pidfd: while its process is alive, the process id is not reused.
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

// alive reports whether the process still runs; then everything read by its id belongs to it and
// not to a later process.
func (h *pidHandle) alive() bool {
	err := unix.PidfdSendSignal(h.fd, 0, nil, 0)
	return err == nil || errors.Is(err, unix.EPERM)
}

// PeerIdentity returns the identity of the program at the other end of in, or "" if uncertain.
// Call it before the first message, since the sender may end after that.
//
// For a socket the kernel names the peer. For a pipe the peer is the nearest ancestor of this
// process with the other end open; otherwise, as for a file or a terminal, it is the parent.
// Launchers are skipped in favour of their parents.
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

// openParent opens the parent of the process, and closes h.
func openParent(h *pidHandle) (*pidHandle, error) {
	defer h.close()
	return parentOf(h.pid, h.alive)
}

// parentOf opens the parent of a process. If the child still has this parent after opening, the
// id was not reused. Process 1 counts as no parent, since it adopts orphans.
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

// openPeer opens the process at the other end of in.
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

// onDescriptor calls find with the descriptor of the file. Unlike File.Fd, it leaves the file in
// non-blocking mode.
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

// socketPeer opens the process that created the socket pair, or the listening socket.
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
	// Kernels before 6.5 only provide the peer's process id, which may have been reused. The peer
	// is older than the current process, so a newer process with that id is another one.
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

// startedBefore reports whether the process started no later than the other.
func startedBefore(pid, than int) bool {
	began, err := strconv.ParseUint(StartTime(pid), 10, 64)
	if err != nil {
		return false
	}
	other, err := strconv.ParseUint(StartTime(than), 10, 64)
	return err == nil && began <= other
}

// pidOf returns the id of the process of a pidfd. It returns an error if the process has ended,
// or is in another PID namespace.
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

// openPipeWriter opens the nearest ancestor with the pipe open for writing, or returns nil.
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
		// The mode of the link shows how the file is open.
		if info, err := os.Lstat(name); err == nil && info.Mode()&0o200 != 0 {
			return true
		}
	}
	return false
}
