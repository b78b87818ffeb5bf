package ei

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/gybob/aai-gateway/internal/platform/linux/fdwire"
)

// patience limits the time for the other end to take or give something.
const patience = 10 * time.Second

// headSize is the size of the object, the size and the opcode before the arguments of a message.
const headSize = 16

// appendMessage appends a request.
func appendMessage(to []byte, object uint64, opcode uint32, args ...any) []byte {
	begin := len(to)
	to, _ = fdwire.Append(to, object, uint32(0), opcode)
	to, _ = fdwire.Append(to, args...)
	binary.NativeEndian.PutUint32(to[begin+8:], uint32(len(to)-begin))
	return to
}

// read reads events until the connection ends.
func (c *Client) read() {
	size := func(head []byte) int { return int(binary.NativeEndian.Uint32(head[8:])) }
	c.lose(fdwire.Receive(c.socket, headSize, size, func(head []byte, e *fdwire.Reader) {
		object, opcode := binary.NativeEndian.Uint64(head), binary.NativeEndian.Uint32(head[12:])
		if c.handle(object, opcode, e); e.Short {
			c.lose(fmt.Errorf("the compositor sent event %d of %#x too short", opcode, object))
		}
	}))
}
