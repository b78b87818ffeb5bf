package importers

import (
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/gybob/aai-gateway/internal/sanitize"
)

// containsNamedKey reports whether a line with several words assigns a secret by name: in a shell
// line, or as in "Server=h;Password=p".
func containsNamedKey(line string) bool {
	words := strings.FieldsFunc(line, func(r rune) bool {
		return r == ';' || r == '"' || r == '\'' || r == ' ' || r == '\t' || r == '\n'
	})
	if len(words) < 2 {
		return false
	}
	for i, word := range words {
		name, value, given := strings.Cut(word, "=")
		if sanitize.IsSecretName(name) &&
			(given && value != "" || !given && strings.HasPrefix(word, "-") && i+1 < len(words)) {
			return true
		}
		if strings.HasSuffix(word, ":") && i+1 < len(words) &&
			authorizes(strings.TrimSuffix(word[strings.LastIndexByte(word, '=')+1:], ":")) && i > 0 {
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

// containsKey reports whether a line with several words has a key.
func containsKey(line string) bool {
	words := strings.Fields(line)
	return containsNamedKey(line) || len(words) > 1 && slices.ContainsFunc(words[1:], func(word string) bool {
		return isKey(strings.Trim(word, `"';,`)) || isSecretURL(word)
	})
}

// keyInPath reports whether a segment of a URL's path looks like a key.
func keyInPath(u *url.URL) bool {
	return slices.ContainsFunc(strings.Split(u.Path, "/"), looksLikeKey)
}

// withoutKeys returns an address without its user and without the query parameters that hold keys. It
// returns the name of a file unchanged.
func withoutKeys(source string) string {
	u, err := url.Parse(source)
	if err != nil || u.Host == "" || u.User == nil && secretQuery(u) == "" {
		return source
	}
	u.User = nil
	for query := u.Query(); secretQuery(u) != ""; u.RawQuery = query.Encode() {
		query.Del(secretQuery(u))
	}
	return u.String()
}

// isPort reports whether a word is a number, as after a "-p" that means a port and not a password.
func isPort(word string) bool { return strings.Trim(word, "0123456789,") == "" }

// looksLikeKey reports whether a word looks like a key: long, of letters and digits, without
// characters of paths, package names and URLs.
func looksLikeKey(word string) bool {
	letters, digits := 0, 0
	for i := range len(word) {
		switch c := word[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c|0x20 >= 'a' && c|0x20 <= 'z':
			letters++
		case c == '_' || c == '-' || c == '+' || c == '=':
		default:
			return false
		}
	}
	return len(word) >= 20 && letters >= 4 && digits >= 4
}

// isKey reports whether an argument may be a key: a part of it is no word, no number and no version. In
// doubt it returns true. It returns false for the path of a file and the digest of an image.
func isKey(word string) bool {
	if strings.HasPrefix(word, "/") || strings.HasPrefix(word, ".") || strings.HasPrefix(word, "~/") ||
		strings.Contains(word, "@sha256:") {
		return false
	}
	odd := 0
	for _, part := range strings.FieldsFunc(word,
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		switch size := len(part); {
		case isWordOrNumber(part):
		case size >= 6:
			return true
		case size >= 3:
			odd++
		}
	}
	return odd >= 3 || looksLikeKey(word)
}

// isWordOrNumber reports whether letters and digits form a number or a word, such as "8080", "python3",
// "4o", "README" or "readOnly".
func isWordOrNumber(part string) bool {
	const maxWord, maxDigits = 20, 4
	letters := strings.TrimRight(part, "0123456789")
	if letters == "" {
		return true
	}
	word := strings.TrimLeft(letters, "0123456789")
	if len(part)-len(letters) > maxDigits || len(letters)-len(word) > maxDigits || len(word) > maxWord ||
		strings.ContainsAny(word, "0123456789") {
		return false
	}
	capitals, doubled, before := 0, false, false
	for _, r := range word {
		is := unicode.IsUpper(r)
		if is {
			capitals++
		}
		doubled = doubled || is && before
		before = is
	}
	return word == strings.ToUpper(word) || !doubled && capitals <= 1+len(word)/4
}
