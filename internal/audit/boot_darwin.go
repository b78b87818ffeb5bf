package audit

import "golang.org/x/sys/unix"

// bootID returns the ID of this boot, or zero if it is unknown.
func bootID() [16]byte {
	text, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return [16]byte{}
	}
	return parseBoot(text)
}
