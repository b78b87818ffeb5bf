//go:build !linux

package peer

import "os"

// Of is the identity of the program at the other end; "" because nobody can be told for
// certain here.
func Of(*os.File) string { return "" }

// Hosts says of a process whether it is one that this one runs in; nobody knows here.
func Hosts(*os.File) func(pid int) bool { return func(int) bool { return false } }
