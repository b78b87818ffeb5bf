package ei

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"syscall"
	"time"
)

// Limits of a connection.
const (
	patience   = 10 * time.Second // for the other end to take or give something
	headSize   = 16
	maxMessage = 1 << 16 // bytes
	maxWaiting = 16      // received files that no event has taken
)

// appendMessage appends a request. Arguments are uint32, int32, uint64, float32 or string.
func appendMessage(to []byte, object uint64, opcode uint32, args ...any) []byte {
	begin := len(to)
	to = binary.NativeEndian.AppendUint64(to, object)
	to = binary.NativeEndian.AppendUint32(to, 0)
	to = binary.NativeEndian.AppendUint32(to, opcode)
	for _, arg := range args {
		switch v := arg.(type) {
		case uint32:
			to = binary.NativeEndian.AppendUint32(to, v)
		case int32:
			to = binary.NativeEndian.AppendUint32(to, uint32(v))
		case uint64:
			to = binary.NativeEndian.AppendUint64(to, v)
		case float32:
			to = binary.NativeEndian.AppendUint32(to, math.Float32bits(v))
		case string:
			to = binary.NativeEndian.AppendUint32(to, uint32(len(v)+1))
			to = append(append(to, v...), 0)
			to = append(to, make([]byte, -len(to)&3)...)
		default:
			panic(fmt.Sprintf("an argument is of the type %T", arg))
		}
	}
	binary.NativeEndian.PutUint32(to[begin+8:], uint32(len(to)-begin))
	return to
}

// An event holds the arguments of an event. After a missing argument it returns zero values, and short is true.
type event struct {
	data  []byte
	files *[]int // received and not yet taken
	short bool
}

func (e *event) take(n int) []byte {
	if n < 0 || n > len(e.data) {
		e.short, e.data = true, nil
		return nil
	}
	v := e.data[:n]
	e.data = e.data[n:]
	return v
}

func (e *event) u32() uint32 {
	if b := e.take(4); b != nil {
		return binary.NativeEndian.Uint32(b)
	}
	return 0
}

func (e *event) u64() uint64 {
	if b := e.take(8); b != nil {
		return binary.NativeEndian.Uint64(b)
	}
	return 0
}

func (e *event) string() string {
	n := int(e.u32())
	if n == 0 {
		return ""
	}
	b := e.take((n + 3) &^ 3)
	if b == nil {
		return ""
	}
	return string(b[:n-1]) // without the final zero
}

// file returns a received file, which the caller closes; nil if there is none.
func (e *event) file() *os.File {
	if len(*e.files) == 0 {
		e.short = true
		return nil
	}
	fd := (*e.files)[0]
	*e.files = (*e.files)[1:]
	return os.NewFile(uintptr(fd), "from the compositor")
}

// read reads events until the connection ends.
func (c *Client) read() {
	var waiting []byte
	var files []int
	defer func() {
		for _, fd := range files {
			_ = syscall.Close(fd)
		}
	}()
	in, oob := make([]byte, maxMessage), make([]byte, syscall.CmsgSpace(4*maxWaiting))
	for {
		n, oobn, _, _, err := c.socket.ReadMsgUnix(in, oob)
		if err == nil && n == 0 {
			err = errors.New("the compositor closed the connection for input")
		}
		messages, _ := syscall.ParseSocketControlMessage(oob[:oobn])
		for _, m := range messages {
			fds, _ := syscall.ParseUnixRights(&m)
			files = append(files, fds...)
		}
		if err == nil && len(files) > maxWaiting {
			err = errors.New("the compositor sends files that no event announces")
		}
		if err != nil {
			c.lose(err)
			return
		}
		waiting = append(waiting, in[:n]...)
		for len(waiting) >= headSize {
			size := int(binary.NativeEndian.Uint32(waiting[8:]))
			if size < headSize || size > maxMessage {
				c.lose(fmt.Errorf("the compositor sent an event of %d bytes", size))
				return
			}
			if len(waiting) < size {
				break
			}
			e := &event{data: waiting[headSize:size], files: &files}
			object, opcode := binary.NativeEndian.Uint64(waiting), binary.NativeEndian.Uint32(waiting[12:])
			if c.handle(object, opcode, e); e.short {
				c.lose(fmt.Errorf("the compositor sent event %d of %#x too short", opcode, object))
				return
			}
			waiting = waiting[size:]
		}
		waiting = append([]byte(nil), waiting...)
	}
}
