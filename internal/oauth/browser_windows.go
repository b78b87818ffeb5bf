package oauth

import "os/exec"

// browserCommand is the program that opens an address on Windows: the handler of
// the shell's library, which is no shell.
func browserCommand(address string) (name string, args []string) {
	return "rundll32", []string{"url.dll,FileProtocolHandler", address}
}

// detachGroup does nothing: a window has no group of processes to be interrupted with.
func detachGroup(*exec.Cmd) {}
