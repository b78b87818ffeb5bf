package audit

import "os"

// bootID returns the ID of this boot, as in random(4), or zero if it is unknown.
func bootID() [16]byte {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return [16]byte{}
	}
	return parseBoot(string(text))
}
