package aai

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// maxWireName keeps a name within the 64 characters of model APIs after a client has prepended
// "mcp__aai-gateway__".
const maxWireName = 46

// WireName returns the wire form of a canonical id, such as "app:org.gnome.Calculator" or
// "aai:exec". It is at most 46 letters, digits, "_" and "-", beginning with a letter. It
// depends on the id alone, so installing an app never renames another. Ids that are too long,
// begin with no letter, or contain "_" or any other character, get "_" and six hexadecimal digits
// of their SHA-256. Two ids can still have the same wire name; the catalog rejects the second.
func WireName(id string) string {
	exact := id != ""
	var b strings.Builder
	for i := range len(id) {
		c := id[i]
		switch {
		case c == ':' || c == '.':
			c = '_'
		case c == '-' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z':
		default:
			exact = false
			c = '_'
		}
		b.WriteByte(c)
	}
	name := b.String()
	if name == "" || !isLetter(name[0]) {
		exact = false
		name = "x" + name
	}
	if exact && len(name) <= maxWireName {
		return name
	}
	sum := sha256.Sum256([]byte(id))
	suffix := "_" + hex.EncodeToString(sum[:3])
	if room := maxWireName - len(suffix); len(name) > room {
		name = name[:room]
	}
	return strings.TrimRight(name, "_") + suffix
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
