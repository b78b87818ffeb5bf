// Package session finds the desktop session of the person: the session bus, the screen,
// the runtime folder and the locale. It also starts programs in that session.
//
// MCP clients start servers without the variables of the session. So a [Detector] looks up
// each part at its first use, in this order: the own environment; login1's session of this
// process; the environment of the user manager; that of a program of this user in the
// session's scope; and the bus in the runtime folder. The first valid one counts, and its
// source is kept with it.
//
// A socket is valid only if its listener is this user or root, and a screen only if it
// also accepts the connection. A session of the gateway's own (demo, tests) has
// [PrivateMark]: inside it only the own environment counts, and outside it none of its
// values does. A remote session gets no screen of another seat unless the person chose it.
//
// The package does not change the environment of the process. Every lookup has a time
// limit. On systems other than Linux, only the own environment counts. The package reads
// /proc, connects to sockets and calls login1 and the user manager, which it never starts.
//
// A [Launcher] starts programs with the environment and switches that make their toolkits
// show accessibility trees. It finds them by desktop entry or on the PATH.
package session
