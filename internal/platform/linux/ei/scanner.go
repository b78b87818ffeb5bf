package ei

import (
	"fmt"
	"strconv"
	"strings"
)

// A scanner reads the tokens of a keymap: words, numbers, "texts", <keys> and punctuation. After the end it returns "".
type scanner struct {
	rest string
	err  error
}

// errorf sets the error, and ends the text.
func (s *scanner) errorf(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf("the keymap: "+format, args...)
	}
	s.rest = ""
}

// skipSpace skips spaces and comments.
func (s *scanner) skipSpace() {
	for {
		s.rest = strings.TrimLeft(s.rest, " \t\r\n\x00")
		if !strings.HasPrefix(s.rest, "//") && !strings.HasPrefix(s.rest, "#") {
			return
		}
		_, s.rest, _ = strings.Cut(s.rest, "\n")
	}
}

// peek returns the next token, which stays.
func (s *scanner) peek() string {
	s.skipSpace()
	if s.rest == "" {
		return ""
	}
	end := func(closing string) string {
		i := strings.Index(s.rest[1:], closing)
		if i < 0 {
			s.errorf("%.20q has no end", s.rest)
			return ""
		}
		return s.rest[:i+2]
	}
	switch c := s.rest[0]; {
	case c == '"':
		return end(`"`)
	case c == '<':
		return end(">")
	case isWord(c):
		i := 1
		for i < len(s.rest) && isWord(s.rest[i]) {
			i++
		}
		return s.rest[:i]
	}
	return s.rest[:1]
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// next returns the next token.
func (s *scanner) next() string {
	t := s.peek()
	if s.rest != "" {
		s.rest = s.rest[len(t):]
	}
	return t
}

// accept skips a token if it is the next one.
func (s *scanner) accept(token string) bool {
	if s.peek() != token {
		return false
	}
	s.next()
	return true
}

// expect skips a token, which must be the next one.
func (s *scanner) expect(token string) {
	if got := s.next(); got != token {
		s.errorf("expected %q, got %q", token, got)
	}
}

// number reads a number, which may follow a word such as Level or Group.
func (s *scanner) number(word string) int {
	t := s.next()
	n, err := strconv.Atoi(strings.TrimPrefix(strings.ToLower(t), word))
	if err != nil {
		s.errorf("expected a number, got %q", t)
	}
	return n
}

// skipTo skips up to one of the tokens outside of brackets, which stays.
func (s *scanner) skipTo(tokens string) {
	depth := 0
	for s.peek() != "" {
		t := s.peek()
		if depth == 0 && strings.Contains(tokens, t) {
			return
		}
		switch t {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			depth--
		}
		s.next()
	}
	s.errorf("it ends too early")
}

// statements calls read for each statement in braces; read may leave the rest of its statement.
func (s *scanner) statements(read func(first string)) {
	s.expect("{")
	for s.err == nil && !s.accept("}") {
		read(s.next())
		s.skipTo(";}")
		s.accept(";")
	}
}
