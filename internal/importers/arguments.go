package importers

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway/internal/sanitize"
)

// argument returns an argument of the command, with a reference in place of an apparent secret. before is
// the argument or the name in front of it.
func (in *serverReader) argument(before, word string) string {
	if in.isCode(before, word) {
		return in.shownCode(word)
	}
	if strings.Contains(word, "${") {
		in.checkReferences(word)
		return word
	}
	flag, value, joined := strings.Cut(word, "=")
	header, rest, isHeader := strings.Cut(word, ":")
	isHeader = isHeader && strings.TrimSpace(rest) != "" && !strings.HasPrefix(rest, "//")
	isFlag := strings.HasPrefix(word, "-")
	switch {
	case isSecretURL(word):
		return in.storeVariable("CONNECTION", word)
	case isSecretJSON(word):
		return in.storeArgument(before, word)
	case isFlag && joined && value != "" && sanitize.IsSecretName(flag):
		return flag + "=" + in.storeVariable(flag, value)
	case isFlag && isHeader && (sanitize.IsSecretName(header) ||
		strings.HasPrefix(word, "-H") && !isPlainHeader(header[2:])):
		return header + ":" + in.storeVariable(header, rest)
	case isFlag && len(word) > 2 && word[1] != '-' && strings.Trim(value, "=") == "" && isKey(word[2:]):
		return word[:2] + in.storeArgument(word[:2], word[2:])
	case isFlag && joined:
		return flag + "=" + in.argument(flag, value)
	case isFlag:
		return word
	case strings.HasPrefix(before, "-") && !strings.ContainsAny(before, "=:") && sanitize.IsSecretName(before):
		return in.storeVariable(before, word)
	case before == "-p" && !isPort(word) && !strings.ContainsAny(word, "/\\.:"):
		return in.storeVariable("PASSWORD", word)
	case isLine(word) && (containsNamedKey(word) || containsKey(word) && strings.HasSuffix(before, "c")):
		in.skip(keyInLineReason, "an argument of its command")
		return ""
	case isHeader && (sanitize.IsSecretName(header) || authorizes(header)):
		return header + ":" + in.storeVariable(header, rest)
	case isHeader && !isPlainHeader(header) && (isHeaderFlag(before) || strings.HasPrefix(strings.ToLower(header), "x-")):
		return header + ":" + in.storeArgument(header, rest)
	}
	return in.value(before, word)
}

// value returns an argument that is no flag, no URL and no header.
func (in *serverReader) value(before, word string) string {
	name, value, joined := strings.Cut(word, "=")
	switch {
	case joined && value != "" && sanitize.IsSecretName(name):
		return name + "=" + in.storeVariable(name, value)
	case joined && value != "" && isVariable(name) && slices.Contains([]string{"-e", "--env"}, before):
		return name + "=" + in.storeArgument(name, value)
	case containsNamedKey(word):
		return in.storeVariable("CONNECTION", word)
	case strings.ContainsAny(word, codeChars) && (isKey(word) || containsKey(word)):
		return in.shownCode(word)
	case (isKey(word) || isLine(word) && containsKey(word)) && strings.HasPrefix(before, "-"):
		return in.storeArgument(before, word)
	case isKey(word), isLine(word) && containsKey(word):
		return in.storeVariable("SECRET", word)
	}
	return word
}

// checkReferences skips the server if an argument has a reference that only the client can resolve, or a key
// beside one.
func (in *serverReader) checkReferences(word string) {
	outside := ""
	for rest := word; ; {
		text, after, found := strings.Cut(rest, "${")
		outside += text
		if !found {
			break
		}
		name, tail, closed := strings.Cut(after, "}")
		if _, known := in.values[name]; !closed || !known {
			in.skip("an argument of its command has %s, which the client fills in", quotedSetting("${"+name+"}"))
			return
		}
		rest = tail
	}
	if isSecretURL(word) || slices.ContainsFunc(strings.Fields(outside), isKey) {
		in.skip("an argument of its command has a key beside a reference; give the whole argument as one variable in the " +
			"client's \"env\", and import again")
	}
}

// storeArgument stores the value of an argument with the name of its flag. The prefix keeps a variable such
// as PATH from changing its meaning.
func (in *serverReader) storeArgument(flag, value string) string {
	if idPart(flag) == "" || !strings.HasPrefix(flag, "-") && !isVariable(strings.ReplaceAll(flag, "-", "_")) {
		return in.storeVariable("SECRET", value)
	}
	return in.storeVariable("ARG_"+strings.TrimLeft(flag, "-"), value)
}

func isLine(word string) bool { return strings.ContainsAny(strings.TrimSpace(word), " \t\n") }

func isHeaderFlag(flag string) bool {
	return slices.Contains([]string{"-H", "--header", "--headers"}, flag)
}

// isPlainHeader reports whether a header is known to hold no secret.
func isPlainHeader(name string) bool {
	name = http.CanonicalHeaderKey(strings.TrimSpace(name))
	return isSetting(name) || slices.Contains([]string{"Accept", "Accept-Language", "Content-Type", "User-Agent",
		"Mcp-Protocol-Version"}, name)
}

// isSecretURL reports whether a word is a URL with a key: as its user, in its query or in its path.
func isSecretURL(word string) bool {
	u, err := url.Parse(word)
	if err != nil || u.Host == "" {
		return false
	}
	_, hasPassword := u.User.Password()
	return hasPassword || isKey(u.User.Username()) || secretQuery(u) != "" || isKey(u.Fragment) ||
		slices.ContainsFunc(strings.Split(u.Path, "/"), isKey)
}

// secretQuery returns the name of a query parameter that holds a key, or "".
func secretQuery(u *url.URL) string {
	query := u.Query()
	for name := range query {
		if sanitize.IsSecretName(name) || slices.ContainsFunc(query[name], isKey) {
			return name
		}
	}
	return ""
}

// isSecretJSON reports whether a word is an object or a list in JSON with a key in it.
func isSecretJSON(word string) bool {
	var value any
	if !regexp.MustCompile(`^\s*[{\[]`).MatchString(word) || json.Unmarshal([]byte(word), &value) != nil {
		return false
	}
	found := false
	sanitize.MapTexts(value, func(text string) string {
		found = found || sanitize.IsSecretName(text) || isKey(text) || isSecretURL(text) || containsKey(text)
		return text
	})
	return found
}
