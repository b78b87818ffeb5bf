package osascript

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
)

// A scanner compiles a template of AppleScript. It knows the lexical grammar: comments, texts, names between bars and raw codes.
type scanner struct {
	script string
	at     int
	out    strings.Builder
	result *template
	// words are the last words and signs of the code, in small letters, the latest first.
	words [3]string
	// needsQuotedForm is set if the script runs commands of the shell, and noValues is its command for other code.
	needsQuotedForm bool
	noValues        string
}

// compileAppleScript compiles a template. Its error is AAI_JSON_INVALID and names the line.
func compileAppleScript(script string) (*template, error) {
	s := &scanner{script: script, result: new(template)}
	s.result.head = headOf(script)
	for _, command := range (&aai.ScriptRecipe{Script: script}).ProgramCommands() {
		switch command {
		case "do shell script", "do script", "write text", "«event":
			s.needsQuotedForm = true
		case "run script":
			s.noValues = command
		}
	}
	if strings.Contains(strings.ToLower(script), "javascript") {
		s.noValues = "JavaScript"
	}
	for s.at < len(script) {
		if err := s.step(); err != nil {
			return nil, err
		}
	}
	s.result.code = s.out.String()
	return s.result, nil
}

// step compiles the next token.
func (s *scanner) step() error {
	rest := s.script[s.at:]
	switch c := rest[0]; {
	case strings.HasPrefix(rest, "--") || c == '#':
		line, _, _ := strings.Cut(rest, "\n")
		s.copy(len(line))
	case strings.HasPrefix(rest, "(*"):
		n := commentLength(rest)
		if n == 0 {
			return compileError(s.script, s.at, "a comment has no end")
		}
		s.copy(n)
	case c == '"':
		return s.text()
	case c == '|', strings.HasPrefix(rest, "«"):
		return s.fixed()
	case strings.HasPrefix(rest, "${"):
		return s.placeholder()
	case isWordByte(c):
		word := wordAt(rest)
		if i := strings.Index(word, "«"); i > 0 {
			word = word[:i]
		}
		s.note(word)
		s.copy(len(word))
	default:
		if !strings.ContainsRune(" \t\r\n", rune(c)) {
			s.note(rest[:1])
		}
		s.copy(1)
	}
	return nil
}

func (s *scanner) copy(n int) {
	s.out.WriteString(s.script[s.at : s.at+n])
	s.at += n
}

func (s *scanner) note(word string) {
	s.words = [3]string{strings.ToLower(word), s.words[0], s.words[1]}
}

// fixed copies a name between bars or a raw code, which cannot contain a value.
func (s *scanner) fixed() error {
	rest := s.script[s.at:]
	opening, closing := "|", "|"
	if rest[0] != '|' {
		opening, closing = "«", "»"
	}
	inner, _, closed := strings.Cut(rest[len(opening):], closing)
	if !closed || strings.Contains(inner, "\n") {
		return compileError(s.script, s.at, "%q has no %q", opening, closing)
	}
	if strings.Contains(inner, "${") {
		return compileError(s.script, s.at, "a value cannot stand in %s%s%s; put it into a text or between spaces", opening, aai.CleanLabel(inner, 40), closing)
	}
	s.note(opening)
	s.copy(len(opening) + len(inner) + len(closing))
	return nil
}

// text compiles a literal. One with placeholders becomes an expression that joins its parts.
func (s *scanner) text() error {
	rest := s.script[s.at:]
	end := 1
	for end < len(rest) && rest[end] != '"' {
		if rest[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(rest) {
		return compileError(s.script, s.at, `a text has no closing """`)
	}
	constants, params, ok := splitLiteral(rest[1:end])
	if !ok {
		return compileError(s.script, s.at, `a placeholder follows a backslash; expected "\\\\" for the character`)
	}
	if len(params) == 0 {
		s.copy(end + 1)
		s.note(`"`)
		return nil
	}
	if err := s.allowed(params[0]); err != nil {
		return err
	}
	var parts []string
	for i, constant := range constants {
		if constant != "" {
			parts = append(parts, `"`+constant+`"`)
		}
		if i < len(params) {
			parts = append(parts, s.result.name(params[i], true))
		}
	}
	joined := strings.Join(parts, " & ")
	if len(parts) > 1 {
		joined = "(" + joined + ")"
	}
	s.out.WriteString(joined)
	s.at += end + 1
	s.note(`"`)
	return nil
}

// placeholder compiles a placeholder outside a text. It becomes the value in its own type.
func (s *scanner) placeholder() error {
	param, length := placeholder(s.script[s.at:])
	if length == 0 {
		return compileError(s.script, s.at, `"${" has no "}"`)
	}
	after := s.script[s.at+length:]
	next := strings.TrimLeft(after, " \t")
	if err := s.allowed(param); err != nil {
		return err
	}
	switch {
	case s.at > 0 && (isWordByte(s.script[s.at-1]) || strings.ContainsRune(`|"}`, rune(s.script[s.at-1]))),
		after != "" && (isWordByte(after[0]) || strings.ContainsRune(`|"$`, rune(after[0]))):
		return s.refuse(param, "it touches a word; expected spaces around it, or a text around both")
	case strings.HasPrefix(next, ":"):
		return s.refuse(param, "a name in a record cannot be a value")
	case slices.Contains([]string{"set", "on", "property", "prop", "local", "global", "end", "as", "every"}, s.words[0]),
		s.words[0] == "with" && s.words[1] == "repeat":
		return s.refuse(param, fmt.Sprintf("a value cannot stand after %q", s.words[0]))
	}
	s.out.WriteString(s.result.name(param, false))
	s.at += length
	s.note("value")
	return nil
}

// allowed checks the place of a placeholder, in a text or outside: a value must not choose the app or become code.
func (s *scanner) allowed(param string) error {
	before := s.words
	switch {
	case s.at < s.result.head:
		return s.refuse(param, `a "use" line is constant`)
	case slices.Contains([]string{"application", "app"}, before[0]), before[0] == "id" && slices.Contains([]string{"application", "app"}, before[1]):
		return s.refuse(param, "the app of a script is constant, since the person allows it")
	case s.noValues != "":
		return s.refuse(param, "the script runs code by "+s.noValues+", and a value could become code; use a tool of its own for that")
	case s.needsQuotedForm && before != [3]string{"of", "form", "quoted"}:
		return s.refuse(param, "the script runs commands of the shell, and a value could become one; write \"quoted form of\" directly before it")
	case slices.Contains([]string{"framework", "script", "osax"}, before[0]):
		return s.refuse(param, fmt.Sprintf("a value cannot stand after %q", before[0]))
	}
	return nil
}

func (s *scanner) refuse(param, why string) error {
	return compileError(s.script, s.at, "${%s} cannot stand there: %s", aai.CleanLabel(param, 60), why)
}

// name returns the name of the constant for a placeholder. Bars make it a name in every app's vocabulary.
func (t *template) name(param string, asText bool) string {
	return fmt.Sprintf("|aai %d|", t.slotOf(param, asText)+1)
}

// appleScript returns the script with the values of a call.
func (t *template) appleScript(values []any) (string, error) {
	var head strings.Builder
	for i, value := range values {
		text, err := literal(value, 0)
		if err != nil {
			e := aai.AsError(err)
			e.Message = aai.CleanLabel(t.slots[i].param, 60) + ": " + e.Message
			return "", e
		}
		fmt.Fprintf(&head, "property |aai %d| : %s\n", i+1, text)
	}
	return t.code[:t.head] + head.String() + t.code[t.head:], nil
}

// headOf returns the place for properties: after the "use" lines, which come first in a script.
func headOf(script string) int {
	head, at, continued := 0, 0, false
	for at < len(script) {
		line, _, _ := strings.Cut(script[at:], "\n")
		text := strings.ToLower(strings.TrimSpace(line))
		isUse := continued || strings.HasPrefix(text, "use ")
		switch {
		case strings.HasPrefix(text, "(*"):
			n := commentLength(script[at+strings.Index(line, "(*"):])
			if n == 0 {
				return head
			}
			at += strings.Index(line, "(*") + n
			continue
		case !isUse && text != "" && !strings.HasPrefix(text, "--") && !strings.HasPrefix(text, "#"):
			return head
		}
		at = min(at+len(line)+1, len(script))
		continued = isUse && strings.HasSuffix(text, "¬")
		if isUse && script[at-1] == '\n' {
			head = at
		}
	}
	return head
}

// commentLength returns the length of the comment at the beginning of a text, which may contain others; 0: it has no end.
func commentLength(text string) int {
	depth := 0
	for i := 0; i+1 < len(text); i++ {
		switch text[i : i+2] {
		case "(*":
			depth++
			i++
		case "*)":
			if depth--; depth == 0 {
				return i + 2
			}
			i++
		}
	}
	return 0
}
