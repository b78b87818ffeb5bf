package importers

import (
	"net/url"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway/internal/sanitize"
)

// containsNamedKey reports whether one of several words is a key by the name before it: of a
// line for a shell, or of "Server=h;Password=p".
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

// authorizes reports whether a header makes somebody known.
func authorizes(header string) bool {
	header = strings.ToLower(strings.TrimSpace(header))
	return header == "authorization" || strings.HasSuffix(header, "-authorization") || strings.HasSuffix(header, "-auth")
}

// keyInPath reports whether a part of an address's path looks like a key.
func keyInPath(u *url.URL) bool {
	return slices.ContainsFunc(strings.Split(u.Path, "/"), looksLikeKey)
}

// isPort reports whether a word is a number: what follows "-p" where it is no password.
func isPort(word string) bool { return strings.Trim(word, "0123456789,") == "" }
