package script

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// elided replaces a literal or a comment in a recorded script.
const elided = "[…]"

// elide returns a script without its string, template and regular-expression literals and its
// comments, and the texts of these literals. It scans and does not parse. After a closing
// parenthesis or brace a slash may divide or begin a regular expression; if the line has another
// slash, the rest of the script is elided, because a literal of several lines may begin in it.
func elide(script string) (code string, literals []string) {
	var b strings.Builder
	last := byte(0) // the last character of code that is no space
	for i := 0; i < len(script); {
		c, end := script[i], i+1
		switch {
		case c == '\'' || c == '"':
			end = endOfString(script, i)
		case c == '`':
			end = endOfTemplate(script, i)
		case strings.HasPrefix(script[i:], "//"):
			end = endOfLine(script, i)
		case strings.HasPrefix(script[i:], "/*"):
			if end = strings.Index(script[i+2:], "*/"); end < 0 {
				end = len(script)
			} else {
				end += i + 4
			}
		case c == '/':
			end = endOfSlash(script, i, last, endsWithKeyword(&b))
		}
		if end == i+1 {
			b.WriteByte(c)
			if c > ' ' {
				last = c
			}
			i = end
			continue
		}
		if text := strings.Trim(script[i:end], "'\"`"); !strings.HasPrefix(script[i:end], "//") &&
			!strings.HasPrefix(script[i:end], "/*") {
			literals = append(literals, text)
			last = ']' // a value
		}
		b.WriteString(elided)
		i = end
	}
	return b.String(), literals
}

// endOfString returns the index after the string literal at i. A literal ends at the end of its line.
func endOfString(script string, i int) int {
	quote := script[i]
	for i++; i < len(script); i++ {
		switch script[i] {
		case '\\':
			i++
			if i+1 < len(script) && script[i] == '\r' && script[i+1] == '\n' {
				i++
			}
		case quote:
			return i + 1
		case '\n', '\r':
			return i
		}
	}
	return len(script)
}

// endOfTemplate returns the index after the template literal at i, with all that is inside it. If code
// inside it has a slash, which may begin a regular expression or a comment, that is the end of the script.
func endOfTemplate(script string, i int) int {
	open := []byte{'`'} // a backquote for a template, a brace for code within one
	for i++; i < len(script) && len(open) > 0; i++ {
		inside := open[len(open)-1] == '`'
		switch c := script[i]; {
		case inside && c == '\\':
			i++
		case inside && c == '`', !inside && c == '}':
			open = open[:len(open)-1]
		case inside && c == '$' && i+1 < len(script) && script[i+1] == '{':
			open = append(open, '{')
			i++
		case inside:
		case c == '/':
			return len(script)
		case c == '`' || c == '{':
			open = append(open, c)
		case c == '\'' || c == '"':
			i = endOfString(script, i) - 1
		}
	}
	return min(i, len(script))
}

func endOfLine(script string, i int) int {
	if n := strings.IndexAny(script[i:], "\r\n"); n >= 0 {
		return i + n
	}
	return len(script)
}

// endOfSlash returns the index after the regular expression at i, or after the slash if it divides.
// last is the last character before it.
func endOfSlash(script string, i int, last byte, keyword bool) int {
	line := script[:endOfLine(script, i)]
	switch {
	case last == ')' || last == '}':
		if strings.Contains(line[i+1:], "/") {
			return len(script)
		}
		return i + 1
	case isWordEnd(last) && !keyword:
		return i + 1
	}
	for class, at := false, i+1; at < len(line); at++ {
		switch c := line[at]; {
		case c == '\\':
			at++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			return at + 1
		}
	}
	return len(line)
}

// isWordEnd reports whether a value may end with the character, so that a slash after it divides.
func isWordEnd(c byte) bool {
	return c == ']' || c == '_' || c == '$' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' ||
		'A' <= c && c <= 'Z'
}

// endsWithKeyword reports whether code ends with a keyword before which no value ends.
func endsWithKeyword(b *strings.Builder) bool {
	code := b.String()
	code = strings.TrimRight(code[max(0, len(code)-20):], " \t\r\n")
	word := code[strings.LastIndexFunc(code, func(r rune) bool { return r < 'a' || r > 'z' })+1:]
	return slices.Contains([]string{"return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "else", "do",
		"await", "yield"}, word)
}

// recordArgs returns the arguments of a call for the journal, with the script's literals elided and
// its SHA-256, and the literals, which messages of the script may repeat.
func recordArgs(args map[string]any) (recorded map[string]any, secrets []string) {
	recorded = make(map[string]any, len(args)+1)
	for name, value := range args {
		recorded[name] = value
	}
	if script, is := args["script"].(string); is {
		sum := sha256.Sum256([]byte(script))
		recorded["script"], secrets = elide(script)
		recorded["script_sha256"] = hex.EncodeToString(sum[:])
	}
	return recorded, secrets
}
