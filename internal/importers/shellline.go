package importers

import (
	"path"
	"slices"
	"strings"
)

// unwrapped extracts a command from wrappers that only set variables: "env A=b server", a shell's
// "-c" line such as "export A=b; server" or "A=b exec server", and such a line as the command
// itself. The values go into the vault. Other forms stay unchanged: a line is interpreted only if
// every shell agrees on its meaning.
func (in *serverReader) unwrapped(args []any) []any {
	words := []string{in.common.Command}
	for _, arg := range args {
		word, ok := arg.(string)
		if !ok {
			return args
		}
		words = append(words, word)
	}
	for range 3 { // env within a shell within env is enough
		given, rest, ok := splitEnvPrefix(words)
		if !ok {
			break
		}
		for _, one := range given {
			in.values[one.name] = one.value
		}
		words = rest
	}
	in.common.Command = words[0]
	args = make([]any, len(words)-1)
	for i, word := range words[1:] {
		args[i] = word
	}
	return args
}

// envAssignment is a variable with its value.
type envAssignment struct{ name, value string }

func splitEnvPrefix(words []string) (given []envAssignment, rest []string, ok bool) {
	switch name := path.Base(words[0]); {
	case name == "env":
		given, rest = envAssignments(words[1:])
	case slices.Contains([]string{"sh", "bash", "dash"}, name) && len(words) == 3 && words[1] == "-c":
		given, rest = parseShellLine(words[2])
	case len(words) == 1 && strings.ContainsAny(words[0], " \t"):
		given, rest = parseShellLine(words[0])
	}
	for i := range rest {
		rest[i] = strings.ReplaceAll(rest[i], quotedWordMark, "")
	}
	runs := len(rest) > 0 && rest[0] != "" && !strings.HasPrefix(rest[0], "-") && !slices.Contains(builtins(), rest[0])
	return given, rest, runs && len(given) > 0
}

// builtins returns shell builtins that can take the place of a program.
func builtins() []string {
	return []string{".", ":", "source", "eval", "command", "builtin", "cd", "set", "export", "trap", "exit", "return",
		"ulimit", "umask", "alias"}
}

// envAssignments returns the leading assignments. It returns none if one has a reserved name or
// no value, contains a reference, or chooses code: the person must see it.
func envAssignments(words []string) (given []envAssignment, rest []string) {
	for len(words) > 0 {
		name, value, found := strings.Cut(words[0], "=")
		if !found || !isVariable(name) {
			break
		}
		upper := strings.ToUpper(name)
		if value == "" || strings.Contains(value, "$") || choosesCode(name) || strings.HasPrefix(upper, "AAI_") ||
			strings.HasPrefix(upper, "AXTERMINATOR_") {
			return nil, nil
		}
		given, words = append(given, envAssignment{name, value}), words[1:]
	}
	return given, words
}

// parseShellLine parses a shell line: exports with values, then one command, which may begin with
// assignments. For any other line it returns nothing.
func parseShellLine(line string) (given []envAssignment, rest []string) {
	parts, ok := split(line)
	if !ok {
		return nil, nil
	}
	for i, words := range parts {
		last := i == len(parts)-1
		exports := words[0] == "export"
		if exports {
			words = words[1:]
		}
		some, command := envAssignments(words)
		given = append(given, some...)
		switch {
		case exports && (last || len(some) == 0 || len(command) > 0), !exports && !last:
			return nil, nil
		case last:
			if len(command) > 1 && command[0] == "exec" {
				command = command[1:]
			}
			return given, command
		}
	}
	return nil, nil
}

// quotedWordMark marks a word with a quoted beginning: it is not an assignment.
const quotedWordMark = "\x00"

// split parses a line into commands and their words, as a shell does. It fails for characters
// with a special meaning, and for shell builtins.
func split(line string) (parts [][]string, ok bool) {
	var words []string
	var word strings.Builder
	begun := false
	flush := func() {
		if begun {
			words = append(words, word.String())
		}
		word.Reset()
		begun = false
	}
	next := func() bool {
		flush()
		parts, ok = append(parts, words), len(words) > 0
		words = nil
		return ok
	}
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == ' ' || c == '\t':
			flush()
		case c == ';', strings.HasPrefix(line[i:], "&&"):
			if !next() {
				return nil, false
			}
			if c == '&' {
				i++
			}
		case c == '\'', c == '"':
			inner, _, closed := strings.Cut(line[i+1:], string(c))
			if !closed || c == '"' && strings.ContainsAny(inner, "$`\\!") {
				return nil, false
			}
			if !strings.Contains(word.String(), "=") {
				word.WriteString(quotedWordMark)
			}
			word.WriteString(inner)
			i, begun = i+1+len(inner), true
		case c >= '0' && c <= '9', c|0x20 >= 'a' && c|0x20 <= 'z', strings.IndexByte("_-./:@%+=,", c) >= 0, c >= 0x80:
			word.WriteByte(c)
			begun = true
		default:
			return nil, false
		}
	}
	return parts, next()
}
