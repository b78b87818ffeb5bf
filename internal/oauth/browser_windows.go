package oauth

import "os/exec"

// browserCommand returns the program that opens an address on Windows: a handler of the shell
// library, which is no shell.
func browserCommand(address string) (name string, args []string) {
	return "rundll32", []string{"url.dll,FileProtocolHandler", address}
}

// detachGroup does nothing: an interrupt does not reach windows.
func detachGroup(*exec.Cmd) {}
