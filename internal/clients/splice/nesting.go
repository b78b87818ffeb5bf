package splice

import (
	"bytes"
	"fmt"
)

// maxNesting is how deep things in a text may be in each other. Parsers call themselves for
// each level, and Go ends a program that does so too often.
const maxNesting = 1000

// tooDeep is what is wrong with a text that is deeper.
func tooDeep(text []byte, at int) *Fault {
	line, column := position(text, at)
	return &Fault{line, column, fmt.Sprintf("more than %d levels are in each other; expected fewer", maxNesting)}
}

// maxKeys is how many keys and tables a text of TOML may have, each part of a name for
// itself. For each the parser looks at all that are beside it: 200,000 take it minutes.
const maxKeys = 10_000

// tooMany is what is wrong with a text that has more.
func tooMany(text []byte, at int) *Fault {
	line, column := position(text, at)
	return &Fault{line, column, fmt.Sprintf("here are more than %d keys and tables; expected fewer", maxKeys)}
}

// checkNesting says where a text of JSON or TOML becomes too deep, or one of TOML has too
// many keys. It knows texts in quotation marks and comments, and whether all else is right is
// the parser's to say.
func checkNesting(text []byte, f Format) error {
	var open []int // how deep each bracket is that is not closed yet
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
			keys, dots = keys+1+dots, 0 // it may be a table's name that ends
		case '=':
			keys += 1 + dots
		case ',', '\n':
			dots = 0
		case '.':
			if f == TOML { // a key of several parts is as many levels
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

// skipped is how many bytes of a comment or a text in quotation marks stand at the
// beginning of what is left.
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
		return len(bytes.SplitN(text, []byte("\n"), 2)[0]) // the end of the line counts
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
