// Package fdwire reads and writes messages as Wayland and libei have them: arguments in the computer's byte order, padded to
// four bytes, with file descriptors beside them on the socket.
package fdwire
