package audit

import (
	"encoding/hex"
	"strings"
)

// parseBoot parses the UUID of a boot. Invalid text results in zero.
func parseBoot(text string) (id [16]byte) {
	b, err := hex.DecodeString(strings.ReplaceAll(strings.TrimSpace(text), "-", ""))
	if err != nil || len(b) != len(id) {
		return id
	}
	return [16]byte(b)
}
