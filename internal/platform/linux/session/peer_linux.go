package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// A foreignError reports a listener that is not valid.
type foreignError struct{ why string }

func (f *foreignError) Error() string { return f.why }

func newForeignError(format string, args ...any) error {
	return &foreignError{fmt.Sprintf(format, args...)}
}

// checkPeer returns an error if the listener at the other end is not valid: another user,
// or a private session of the gateway.
func (r *Detector) checkPeer(socket net.Conn) error {
	unix, ok := socket.(*net.UnixConn)
	if !ok {
		return errors.New("it is on a network, where nobody can say whose it is")
	}
	raw, err := unix.SyscallConn()
	if err != nil {
		return err
	}
	var peer *syscall.Ucred
	var failed error
	if err := raw.Control(func(fd uintptr) {
		peer, failed = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	}); err != nil {
		return err
	}
	if failed != nil {
		return failed
	}
	if peer.Uid != 0 && peer.Uid != uint32(os.Getuid()) {
		return newForeignError("who listens there is the user %d", peer.Uid)
	}
	if !r.isPrivate() && r.isMarkedPrivate(int(peer.Pid)) {
		return newForeignError("it is of a private session of this gateway")
	}
	return nil
}

// isMarkedPrivate reports whether the process belongs to a private session of the gateway.
func (r *Detector) isMarkedPrivate(pid int) bool {
	env, err := readLimited(filepath.Join(r.cfg.Proc, strconv.Itoa(pid), "environ"))
	return err == nil && bytes.Contains(append([]byte{0}, env...), []byte("\x00"+PrivateMark+"="))
}

// A socketID distinguishes a socket file from a later one at the same path.
type socketID struct{ device, inode uint64 }

func idOf(path string) (socketID, uint32, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return socketID{}, 0, errors.New("there is nothing at " + path)
	}
	if info.Mode().Type() != fs.ModeSocket {
		return socketID{}, 0, errors.New(path + " is no socket")
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return socketID{}, 0, errors.New(path + " cannot be looked at")
	}
	return socketID{uint64(stat.Dev), stat.Ino}, stat.Uid, nil //nolint:unconvert // the type differs by processor
}

// socketAlive returns a function that reports whether the same socket still exists. For an
// abstract socket, the function connects to it.
func socketAlive(path string) func() bool {
	if path[0] == '@' {
		return func() bool {
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			socket, err := new(net.Dialer).DialContext(ctx, "unix", path)
			if err == nil {
				_ = socket.Close()
			}
			return err == nil
		}
	}
	first, _, err := idOf(path)
	return func() bool {
		now, _, gone := idOf(path)
		return err == nil && gone == nil && now == first
	}
}

// checkBus returns the path of the first socket in a D-Bus address that passes
// checkSocket.
func (r *Detector) checkBus(ctx context.Context, address string) (path string, err error) {
	err = errors.New("it names no socket of this computer")
	for _, path := range wire.SocketPaths(address) {
		if err = r.checkSocket(ctx, path); err == nil {
			return path, nil
		}
	}
	return "", err
}

// checkSocket returns an error if the socket is not valid. It must belong to this user or root.
func (r *Detector) checkSocket(ctx context.Context, path string) error {
	if path[0] != '@' {
		if _, owner, err := idOf(path); err != nil {
			return err
		} else if owner != 0 && owner != uint32(os.Getuid()) {
			return newForeignError("%s belongs to the user %d", path, owner)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, r.cfg.Patience)
	defer cancel()
	socket, err := new(net.Dialer).DialContext(ctx, "unix", path)
	if err != nil {
		return errors.New("nobody listens at " + path)
	}
	defer func() { _ = socket.Close() }()
	return r.checkPeer(socket)
}
