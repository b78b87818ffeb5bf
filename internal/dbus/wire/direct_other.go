//go:build !unix

package wire

import "net"

// A directWriter is not available on this platform.
type directWriter struct{}

func newDirectWriter(net.Conn) *directWriter { return nil }

func (*directWriter) write([]byte) (int, error) { return 0, nil }
