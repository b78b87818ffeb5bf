package audit

import (
	"encoding/hex"
	"strings"
)

// parseBoot reads the UUID of a start of the computer; what is none is zero.
func parseBoot(text string) (id [16]byte) {
	b, err := hex.DecodeString(strings.ReplaceAll(strings.TrimSpace(text), "-", ""))
	if err != nil || len(b) != len(id) {
		return id
	}
	return [16]byte(b)
}
