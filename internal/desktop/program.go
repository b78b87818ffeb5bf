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
	// Target is the program that Path starts where Path is a launcher such as env: a path, or
	// the launcher's own name of an app. It is "" for any other program.
	Target string
	// RunsCommands reports whether Path runs commands: an interpreter, or a launcher whose program
	// is not known.
	RunsCommands bool
	// FieldCode is the entry's field code for files (f, F) or addresses (u, U), 0 for none, and
	// FieldAt the index in Args at which it stands.
	FieldCode  byte
	FieldIndex int
}

// Command returns the words that start the program. The arguments take the place of the
// field code, or follow the others.
func (p Program) Command(args []string) []string {
	at := len(p.Args)
	if p.FieldCode != 0 {
		at = p.FieldIndex
	}
	return slices.Concat([]string{p.Path}, p.Args[:at], args, p.Args[at:])
}

// AcceptsArgs reports whether the arguments fit the field code: absolute paths, or
// addresses of http, https and local files. A relative path is none: it may be an option or a
// subcommand.
func (p Program) AcceptsArgs(args []string) bool {
	if len(args) > 1 && (p.FieldCode == 'f' || p.FieldCode == 'u') {
		return false
	}
	return !slices.ContainsFunc(args, func(arg string) bool {
		switch {
		case strings.ContainsFunc(arg, unicode.IsControl):
			return true
		case filepath.IsAbs(arg):
			return p.FieldCode == 0
		}
		u, err := url.Parse(arg)
		if err != nil || p.FieldCode != 'u' && p.FieldCode != 'U' {
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
