//go:build !linux

package peer

import "os"

// Of is the identity of the program at the other end; "" because nobody can be told for
// certain here.
func Of(*os.File) string { return "" }
