//go:build !unix

package wire

import (
	"errors"
	"io"
	"net"
	"os"
)

// A fileReader would read files from a socket.
type fileReader struct{ io.Reader }

func newFileReader(_ net.Conn, wanted bool) (*fileReader, error) {
	if wanted {
		return nil, errors.ErrUnsupported
	}
	return nil, nil
}

func (*fileReader) take(uint32) []*os.File { return nil }

func (*fileReader) close() {}
