package sanitize

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ShellQuote returns untrusted text as one word for a POSIX shell. People paste suggested
// commands, and within double quotes "$(…)" would run. Bytes with a special meaning to a terminal
// become octal escapes in $'…', which bash, zsh and ksh support, but fish does not.
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

// ShellJoin joins the words of a command line, quoted where a shell needs it.
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
