package audit

import "os"

// bootID names this start of the computer, as random(4) has it; zero if it does
// not say.
func bootID() [16]byte {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return [16]byte{}
	}
	return parseBoot(string(text))
}
