package audit

import "golang.org/x/sys/unix"

// bootID names this start of the computer; zero if it does not say.
func bootID() [16]byte {
	text, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return [16]byte{}
	}
	return parseBoot(text)
}
