// Package win32 calls the functions of Windows for windows and their messages, with Go types.
//
// A message to a window of another program waits for that program, so each call that sends one takes a context and returns by its
// deadline. It imports only the root package, desktop and golang.org/x/sys.
package win32
