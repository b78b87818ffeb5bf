// Package session finds the desktop session of the person for everybody in the
// program: the session bus, the screen, the folder of the login and the language.
//
// Clients of MCP start their servers with a handful of variables, and none of those
// that name the session. So each part is looked for, when it is first needed, in this
// order: the own environment; login1's session of this process; the environment of
// the user manager; that of a program of ours in the session's scope; and the bus in
// the folder of the login. The first that counts is taken, and where it was found is
// kept with it.
//
// A socket counts only if who listens there is this user or root, and a screen only
// if it accepts us besides. A session of our own making (the demo, the tests) is
// marked by [PrivateMark]: who runs within one looks at the own environment and
// nowhere else, and who runs outside of one takes nothing of it. A session from afar
// gets no other seat's screen, since nobody sits there, unless the person chose it.
//
// Nothing here changes the environment of the process. Every look is bounded in
// time. On other systems than Linux the own environment is all there is.
//
// The package reads /proc, connects to sockets and asks login1 and the user manager,
// which it never starts.
package session
