package importers

import (
	"net/url"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway/internal/sanitize"
)

// containsNamedKey reports whether a line with several words assigns a secret by name: in a shell
// line, or as in "Server=h;Password=p".
func containsNamedKey(line string) bool {
	words := strings.FieldsFunc(line, func(r rune) bool { return r == ';' || r == '"' || r == '\'' || r == ' ' || r == '\t' || r == '\n' })
	if len(words) < 2 {
		return false
	}
	for i, word := range words {
		name, value, given := strings.Cut(word, "=")
		if sanitize.IsSecretName(name) && (given && value != "" || !given && strings.HasPrefix(word, "-") && i+1 < len(words)) {
			return true
		}
		if strings.HasSuffix(word, ":") && i+1 < len(words) && authorizes(strings.TrimSuffix(word[strings.LastIndexByte(word, '=')+1:], ":")) && i > 0 {
			return true
		}
	}
	return false
}

// authorizes reports whether a header authenticates the client.
func authorizes(header string) bool {
	header = strings.ToLower(strings.TrimSpace(header))
	return header == "authorization" || strings.HasSuffix(header, "-authorization") || strings.HasSuffix(header, "-auth")
}

// keyInPath reports whether a segment of a URL's path looks like a key.
func keyInPath(u *url.URL) bool {
	return slices.ContainsFunc(strings.Split(u.Path, "/"), looksLikeKey)
}

// isPort reports whether a word is a number, as after a "-p" that means a port and not a password.
func isPort(word string) bool { return strings.Trim(word, "0123456789,") == "" }
