package desktop

import (
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// A Program is one that is installed.
type Program struct {
	Name string   // for people
	Path string   // what is started; it may be a link or a script
	Args []string // what it is always started with

	Entry, Exec string // the id and the command of its desktop entry; "" where it has none
	// Starts is the program that Path starts where Path is a launcher such as env: a path, or
	// the launcher's own name of an app. It is "" for any other program.
	Starts string
	// Commands reports whether Path runs commands: an interpreter, or a launcher whose program
	// is not known.
	Commands bool
	// Field is the entry's field code for files (f, F) or addresses (u, U), 0 for none, and
	// FieldAt the index in Args at which it stands.
	Field   byte
	FieldAt int
}

// Command returns the words that start the program. The arguments take the place of the
// field code, or follow the others.
func (p Program) Command(args []string) []string {
	at := len(p.Args)
	if p.Field != 0 {
		at = p.FieldAt
	}
	return slices.Concat([]string{p.Path}, p.Args[:at], args, p.Args[at:])
}

// Opens reports whether the arguments fit the field code: absolute paths, or
// addresses of http, https and local files. A relative path is none: it may be an option or a
// subcommand.
func (p Program) Opens(args []string) bool {
	if len(args) > 1 && (p.Field == 'f' || p.Field == 'u') {
		return false
	}
	return !slices.ContainsFunc(args, func(arg string) bool {
		switch {
		case strings.ContainsFunc(arg, unicode.IsControl):
			return true
		case filepath.IsAbs(arg):
			return p.Field == 0
		}
		u, err := url.Parse(arg)
		if err != nil || p.Field != 'u' && p.Field != 'U' {
			return true
		}
		switch u.Scheme {
		case "http", "https":
			return u.Host == ""
		case "file":
			return u.Host != "" && u.Host != "localhost" || !filepath.IsAbs(u.Path)
		}
		return true
	})
}

// CommandLine writes the words of a command so that no other command reads the same.
func CommandLine(words []string) string {
	written := make([]string, len(words))
	for i, word := range words {
		if word == "" || strings.ContainsFunc(word, func(r rune) bool { return r == '"' || unicode.IsSpace(r) || !unicode.IsPrint(r) }) {
			word = strconv.Quote(word)
		}
		written[i] = word
	}
	return strings.Join(written, " ")
}
