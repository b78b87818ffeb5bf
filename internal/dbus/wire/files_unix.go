//go:build unix

package wire

import (
	"errors"
	"net"
	"os"
	"syscall"
)

// maxFiles is the limit for received files that no message has taken yet.
const maxFiles = 64

// A fileReader reads a socket, and keeps the files that arrive with the bytes. Only the reading goroutine may use it.
type fileReader struct {
	socket *net.UnixConn
	oob    []byte
	queue  []*os.File
}

// newFileReader returns nil if no files are wanted.
func newFileReader(socket net.Conn, wanted bool) (*fileReader, error) {
	if !wanted {
		return nil, nil
	}
	s, ok := socket.(*net.UnixConn)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return &fileReader{socket: s, oob: make([]byte, syscall.CmsgSpace(4*maxFiles))}, nil
}

// Read implements io.Reader.
func (r *fileReader) Read(p []byte) (int, error) {
	n, oobn, flags, _, err := r.socket.ReadMsgUnix(p, r.oob)
	messages, _ := syscall.ParseSocketControlMessage(r.oob[:oobn])
	for _, m := range messages {
		fds, _ := syscall.ParseUnixRights(&m)
		for _, fd := range fds {
			syscall.CloseOnExec(fd)
			_ = syscall.SetNonblock(fd, true) // for deadlines
			r.queue = append(r.queue, os.NewFile(uintptr(fd), "from the bus"))
		}
	}
	if err == nil && (len(r.queue) > maxFiles || flags&syscall.MSG_CTRUNC != 0) {
		err = errors.New("the bus sent too many files")
	}
	return n, err
}

// take returns the next files, or nil if there are fewer.
func (r *fileReader) take(n uint32) []*os.File {
	if r == nil || uint64(n) > uint64(len(r.queue)) {
		return nil
	}
	files := r.queue[:n:n]
	r.queue = r.queue[n:]
	return files
}

// close closes the files that no message has taken.
func (r *fileReader) close() {
	if r == nil {
		return
	}
	for _, f := range r.queue {
		_ = f.Close()
	}
}
