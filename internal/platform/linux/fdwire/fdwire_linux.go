package fdwire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"slices"
	"syscall"
)

// maxWaiting limits the received files that no event has taken.
const maxWaiting = 64

// A Fixed is a number with 8 bits after the point.
type Fixed int32

// An OpenFile is a file descriptor as an argument. It stays open.
type OpenFile struct{ *os.File }

// Append appends arguments of the types uint32, int32, uint64, float32, Fixed and string. rights is the control message
// with the arguments of the type OpenFile.
func Append(to []byte, args ...any) (message, rights []byte) {
	for _, arg := range args {
		switch v := arg.(type) {
		case uint32:
			to = binary.NativeEndian.AppendUint32(to, v)
		case int32:
			to = binary.NativeEndian.AppendUint32(to, uint32(v))
		case Fixed:
			to = binary.NativeEndian.AppendUint32(to, uint32(v))
		case uint64:
			to = binary.NativeEndian.AppendUint64(to, v)
		case float32:
			to = binary.NativeEndian.AppendUint32(to, math.Float32bits(v))
		case string:
			to = binary.NativeEndian.AppendUint32(to, uint32(len(v)+1))
			to = append(append(to, v...), 0)
			to = append(to, make([]byte, -len(to)&3)...)
		case OpenFile:
			rights = append(rights, syscall.UnixRights(int(v.Fd()))...)
		default:
			panic(fmt.Sprintf("an argument is of the type %T", arg))
		}
	}
	return to, rights
}

// A Reader reads the arguments of an event. After a missing argument it returns zero values, and Short is true.
type Reader struct {
	Short bool
	data  []byte
	files *[]int // received and not yet taken
}

func (r *Reader) take(n int) []byte {
	if n < 0 || n > len(r.data) {
		r.Short, r.data = true, nil
		return nil
	}
	v := r.data[:n]
	r.data = r.data[n:]
	return v
}

// Uint reads a number.
func (r *Reader) Uint() uint32 {
	if b := r.take(4); b != nil {
		return binary.NativeEndian.Uint32(b)
	}
	return 0
}

// Uint64 reads a number of 64 bits.
func (r *Reader) Uint64() uint64 {
	if b := r.take(8); b != nil {
		return binary.NativeEndian.Uint64(b)
	}
	return 0
}

// Int reads a number with a sign.
func (r *Reader) Int() int { return int(int32(r.Uint())) }

// Bytes reads an array.
func (r *Reader) Bytes() []byte {
	n := int(r.Uint())
	if b := r.take((n + 3) &^ 3); b != nil {
		return slices.Clone(b[:n])
	}
	return nil
}

// Text reads a string.
func (r *Reader) Text() string {
	v := r.Bytes()
	if n := len(v); n > 0 {
		return string(v[:n-1]) // without the final zero
	}
	return ""
}

// File returns a received file, which the caller closes; nil if there is none.
func (r *Reader) File() *os.File {
	if len(*r.files) == 0 {
		r.Short = true
		return nil
	}
	fd := (*r.files)[0]
	*r.files = (*r.files)[1:]
	_ = syscall.SetNonblock(fd, true) // for deadlines
	return os.NewFile(uintptr(fd), "from the compositor")
}

// Receive passes events to handle until the connection ends, and returns why. size returns the size of an event from its
// head, of headSize bytes.
func Receive(socket *net.UnixConn, headSize int, size func(head []byte) int, handle func(head []byte, args *Reader)) error {
	const maxMessage = 1 << 16
	var waiting []byte
	var files []int
	defer func() {
		for _, fd := range files {
			_ = syscall.Close(fd)
		}
	}()
	in, oob := make([]byte, maxMessage), make([]byte, syscall.CmsgSpace(4*maxWaiting))
	for {
		n, oobn, _, _, err := socket.ReadMsgUnix(in, oob)
		if err == nil && n == 0 {
			err = errors.New("the compositor closed the connection")
		}
		if err != nil {
			return err
		}
		if files = append(files, rightsIn(oob[:oobn])...); len(files) > maxWaiting {
			return errors.New("the compositor sends files that no event announces")
		}
		waiting = append(waiting, in[:n]...)
		for len(waiting) >= headSize {
			n := size(waiting[:headSize])
			if n < headSize || n > maxMessage {
				return fmt.Errorf("the compositor sent an event of %d bytes", n)
			}
			if len(waiting) < n {
				break
			}
			handle(waiting[:headSize], &Reader{data: waiting[headSize:n], files: &files})
			waiting = waiting[n:]
		}
		waiting = slices.Clone(waiting)
	}
}

// rightsIn returns the file descriptors of a control message.
func rightsIn(oob []byte) (files []int) {
	messages, _ := syscall.ParseSocketControlMessage(oob)
	for _, m := range messages {
		fds, _ := syscall.ParseUnixRights(&m)
		files = append(files, fds...)
	}
	for _, fd := range files {
		syscall.CloseOnExec(fd)
	}
	return files
}
