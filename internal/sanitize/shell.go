package sanitize

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ShellQuote makes one word for a POSIX shell of text that anybody chose. People paste what
// they are told to type, and within double quotes "$(…)" would run. What would be more to a
// terminal than a letter is written by its number, which only the shells of people
// understand (bash, zsh, ksh, fish does not).
func ShellQuote(text string) string {
	if utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	}
	var b strings.Builder
	for _, c := range []byte(text) {
		if c < ' ' || c > '~' || c == '\'' || c == '\\' {
			fmt.Fprintf(&b, `\%03o`, c)
		} else {
			b.WriteByte(c)
		}
	}
	return "$'" + b.String() + "'"
}

// ShellJoin are words of a command line, quoted where a shell would take them for more.
func ShellJoin(words ...string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,@%+-"
	line := make([]string, len(words))
	for i, word := range words {
		if line[i] = word; word == "" || strings.Trim(word, plain) != "" {
			line[i] = ShellQuote(word)
		}
	}
	return strings.Join(line, " ")
}
