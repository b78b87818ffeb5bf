package splice

import (
	"bytes"
	"fmt"
)

// maxNesting limits the nesting of a text. Parsers recurse for each level, and Go ends a program
// that recurses too deeply.
const maxNesting = 1000

// tooDeep reports that the text exceeds maxNesting.
func tooDeep(text []byte, at int) *Fault {
	line, column := position(text, at)
	return &Fault{line, column, fmt.Sprintf("more than %d levels are in each other; expected fewer", maxNesting)}
}

// maxKeys limits the keys and tables of a TOML text; each part of a dotted name counts. The
// parser compares each with all its siblings: 200,000 take minutes.
const maxKeys = 10_000

// tooMany reports that the text exceeds maxKeys.
func tooMany(text []byte, at int) *Fault {
	line, column := position(text, at)
	return &Fault{line, column, fmt.Sprintf("here are more than %d keys and tables; expected fewer", maxKeys)}
}

// checkNesting returns a *Fault at the position where a JSON or TOML text exceeds maxNesting, or a TOML text exceeds
// maxKeys. It recognizes only quoted strings and comments; the parser checks the rest.
func checkNesting(text []byte, f Format) error {
	var open []int // the depth of each open bracket
	depth, dots, keys := 0, 0, 0
	for i := 0; i < len(text); {
		if n := skipped(text[i:], f); n > 0 {
			i += n
			continue
		}
		switch text[i] {
		case '[', '{':
			open = append(open, depth)
			depth, dots = depth+1+dots, 0
		case ']', '}':
			if n := len(open); n > 0 {
				depth, open = open[n-1], open[:n-1]
			}
			keys, dots = keys+1+dots, 0 // it may end a table's name
		case '=':
			keys += 1 + dots
		case ',', '\n':
			dots = 0
		case '.':
			if f == TOML { // each part of a dotted key is one level
				dots++
			}
		}
		if depth+dots > maxNesting {
			return tooDeep(text, i)
		}
		if f == TOML && keys > maxKeys {
			return tooMany(text, i)
		}
		i++
	}
	return nil
}

// skipped returns the length of the comment or quoted string at the beginning of text, or 0.
func skipped(text []byte, f Format) int {
	until := func(from int, end string) int {
		if i := bytes.Index(text[from:], []byte(end)); i >= 0 {
			return from + i + len(end)
		}
		return len(text)
	}
	begins := func(s string) bool { return bytes.HasPrefix(text, []byte(s)) }
	switch {
	case f == JSON && begins("//"), f == TOML && begins("#"):
		return len(bytes.SplitN(text, []byte("\n"), 2)[0]) // the line end is not skipped
	case f == JSON && begins("/*"):
		return until(2, "*/")
	case f == TOML && begins("'''"):
		return until(3, "'''")
	case f == TOML && begins("'"):
		return until(1, "'")
	case !begins(`"`):
		return 0
	}
	end := []byte(`"`)
	if f == TOML && begins(`"""`) {
		end = []byte(`"""`)
	}
	for i := len(end); i < len(text); i++ {
		if text[i] == '\\' {
			i++
		} else if bytes.HasPrefix(text[i:], end) {
			return i + len(end)
		}
	}
	return len(text)
}
