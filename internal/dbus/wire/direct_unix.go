//go:build unix

package wire

import (
	"errors"
	"net"
	"syscall"
)

// A directWriter writes to a socket without blocking. It is not safe for concurrent use.
type directWriter struct {
	socket  syscall.RawConn
	attempt func(fd uintptr) bool // created once to avoid allocations
	data    []byte
	written int
	err     error
}

// newDirectWriter returns nil if socket is no system socket.
func newDirectWriter(socket net.Conn) *directWriter {
	conn, ok := socket.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil
	}
	w := &directWriter{socket: raw}
	w.attempt = w.writeOnce
	return w
}

// write returns the number of bytes that the socket accepted, possibly 0.
func (w *directWriter) write(data []byte) (n int, err error) {
	w.data, w.written, w.err = data, 0, nil
	err = w.socket.Write(w.attempt)
	w.data = nil
	if err == nil {
		err = w.err
	}
	return w.written, err
}

// writeOnce always reports true, so that it is not called again when the socket is ready.
func (w *directWriter) writeOnce(fd uintptr) bool {
	for {
		n, err := syscall.Write(int(fd), w.data)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EAGAIN):
		case err != nil:
			w.err = err
		default:
			w.written = n
		}
		return true
	}
}
