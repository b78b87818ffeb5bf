package desktop

import (
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// A Program is an installed program.
type Program struct {
	Name string   // visible name
	ID   string   // App.ID of the running program, if it is not the name of the file
	Path string   // executable; may be a link or a script
	Args []string // arguments of every start

	Entry, Exec string // ID and command of its desktop entry; "" without one
	// Target is the program that Path starts if Path is a launcher such as env: a path, or the launcher's
	// own name of an app. It is "" for any other program.
	Target string
	// RunsCommands reports whether Path runs commands: it is an interpreter, or a launcher with an unknown
	// program.
	RunsCommands bool
	// FieldCode is the entry's field code for files (f, F) or addresses (u, U), or 0. FieldIndex is its
	// index in Args.
	FieldCode  byte
	FieldIndex int
}

// Command returns the command line that starts the program. args replace the field code, or follow the
// other arguments.
func (p Program) Command(args []string) []string {
	at := len(p.Args)
	if p.FieldCode != 0 {
		at = p.FieldIndex
	}
	return slices.Concat([]string{p.Path}, p.Args[:at], args, p.Args[at:])
}

// AcceptsArgs reports whether the arguments fit the field code: absolute paths, or addresses of http, https
// and local files. It rejects relative paths, because these may be options or subcommands.
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

// CommandLine formats a command unambiguously: two different commands never result in the same text.
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
