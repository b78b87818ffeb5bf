package wayland

import (
	"encoding/binary"
	"os"
	"slices"
	"syscall"
)

// rightsIn returns the file descriptors of a control message.
func rightsIn(oob []byte) []int {
	messages, err := syscall.ParseSocketControlMessage(oob)
	if err != nil {
		return nil
	}
	var files []int
	for _, m := range messages {
		if fds, err := syscall.ParseUnixRights(&m); err == nil {
			files = append(files, fds...)
		}
	}
	for _, fd := range files {
		syscall.CloseOnExec(fd)
	}
	return files
}

// A reader reads the arguments of an event. After a missing argument it returns zero values, and short is true.
type reader struct {
	data  []byte
	files *[]int // received and not yet taken
	short bool
}

func (r *reader) uint() uint32 {
	if len(r.data) < 4 {
		r.short, r.data = true, nil
		return 0
	}
	v := binary.NativeEndian.Uint32(r.data)
	r.data = r.data[4:]
	return v
}

func (r *reader) int() int { return int(int32(r.uint())) }

// bytes returns an array.
func (r *reader) bytes() []byte {
	n := int(r.uint())
	padded := (n + 3) &^ 3
	if n < 0 || padded > len(r.data) {
		r.short, r.data = true, nil
		return nil
	}
	v := slices.Clone(r.data[:n])
	r.data = r.data[padded:]
	return v
}

func (r *reader) string() string {
	v := r.bytes()
	if n := len(v); n > 0 {
		return string(v[:n-1]) // without the final zero
	}
	return ""
}

// file returns a received file, which the caller closes; nil if there is none.
func (r *reader) file() *os.File {
	if len(*r.files) == 0 {
		r.short = true
		return nil
	}
	fd := (*r.files)[0]
	*r.files = (*r.files)[1:]
	_ = syscall.SetNonblock(fd, true) // for deadlines
	return os.NewFile(uintptr(fd), "from the compositor")
}
