//go:build !unix

package wire

import "net"

// A directWriter would write without waiting; here there is none.
type directWriter struct{}

func newDirectWriter(net.Conn) *directWriter { return nil }

func (*directWriter) write([]byte) (int, error) { return 0, nil }
