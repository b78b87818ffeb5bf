package osascript

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/gybob/aai-gateway"
)

// runner is the constant script that runs a job and returns JSON. It is a function.
const runner = `(function (aaiJob) {
	var aaiStage = "parse";
	function plain(key, value) {
		if (typeof value === "bigint") {
			return String(value);
		}
		if (typeof value !== "function") {
			return value;
		}
		try {
			return { object: Automation.getDisplayString(value) };
		} catch (e) {
			return { object: String(value) };
		}
	}
	try {
		var aaiResult = (function (aaiValues, run) {
			var aaiLast = eval("void (aaiStage = 'run');" + aaiJob.script);
			return typeof run === "function" ? run([]) : aaiLast;
		})(aaiJob.values);
		aaiStage = "answer";
		return JSON.stringify({ ok: true, value: aaiResult }, plain);
	} catch (e) {
		var error = e instanceof Error ? e : { message: String(e) };
		return JSON.stringify({ ok: false, stage: aaiStage, number: error.errorNumber, name: error.name, message: String(error.message), line: error.line });
	}
})`

// A jsScanner compiles a template of JXA. A regular expression that it takes for a division, or the reverse, changes which
// placeholders it accepts, but not that values are data.
type jsScanner struct {
	script string
	at     int
	out    strings.Builder
	result *template
	last   string // the last word or sign of the code
	// onlyWhole is set if the script runs programs. A placeholder then must not be a part of a longer text.
	onlyWhole bool
}

// compileJXA compiles a template. Its error is AAI_JSON_INVALID and names the line.
func compileJXA(script string) (*template, error) {
	s := &jsScanner{script: script, result: new(template)}
	s.onlyWhole = len((&aai.ScriptRecipe{Language: "jxa", Script: script}).ProgramCommands()) > 0
	for s.at < len(script) {
		if err := s.step(); err != nil {
			return nil, err
		}
	}
	s.result.code = s.out.String()
	return s.result, nil
}

func (s *jsScanner) step() error {
	rest := s.script[s.at:]
	switch c := rest[0]; {
	case strings.HasPrefix(rest, "//"):
		line, _, _ := strings.Cut(rest, "\n")
		s.copy(len(line))
	case strings.HasPrefix(rest, "/*"):
		inner, _, closed := strings.Cut(rest[2:], "*/")
		if !closed {
			return compileError(s.script, s.at, "a comment has no end")
		}
		s.copy(len(inner) + 4)
	case c == '/' && s.beginsPattern():
		return s.pattern()
	case c == '"' || c == '\'' || c == '`':
		return s.text(c)
	case strings.HasPrefix(rest, "${"):
		return s.placeholder()
	case isWordByte(c) || c == '$':
		word := rest[:1] + wordAt(rest[1:])
		s.last = word
		s.copy(len(word))
	default:
		if !strings.ContainsRune(" \t\r\n", rune(c)) {
			s.last = rest[:1]
		}
		s.copy(1)
	}
	return nil
}

func (s *jsScanner) copy(n int) {
	s.out.WriteString(s.script[s.at : s.at+n])
	s.at += n
}

// beginsPattern reports whether "/" begins a regular expression, by the token before it.
func (s *jsScanner) beginsPattern() bool {
	if s.last == "" || slices.Contains([]string{"return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "else", "do"}, s.last) {
		return true
	}
	c := s.last[0]
	return !isWordByte(c) && c != '$' && !strings.ContainsRune(")]\"'`", rune(c))
}

// pattern copies a regular expression.
func (s *jsScanner) pattern() error {
	rest := s.script[s.at:]
	inClass := false
	for i := 1; i < len(rest) && rest[i] != '\n'; i++ {
		switch rest[i] {
		case '\\':
			i++
		case '[':
			inClass = true
		case ']':
			inClass = false
		case '/':
			if inClass {
				continue
			}
			if strings.Contains(rest[:i], "${") {
				return compileError(s.script, s.at, "a value cannot stand in a regular expression; use new RegExp with it, or includes")
			}
			s.last = ")"
			s.copy(i + 1)
			return nil
		}
	}
	return compileError(s.script, s.at, "a regular expression has no end")
}

// text compiles a literal. One with placeholders becomes an expression that joins its parts.
func (s *jsScanner) text(quote byte) error {
	rest := s.script[s.at:]
	end := 1
	for end < len(rest) && rest[end] != quote {
		switch {
		case rest[end] == '\\':
			end++
		case rest[end] == '\n' && quote != '`':
			return compileError(s.script, s.at, "a text ends with its line")
		}
		end++
	}
	if end >= len(rest) {
		return compileError(s.script, s.at, "a text has no closing %c", quote)
	}
	constants, params, ok := splitLiteral(rest[1:end])
	switch {
	case !ok:
		return compileError(s.script, s.at, "a placeholder follows a backslash")
	case len(params) == 0:
		s.copy(end + 1)
	case s.isKey(rest[end+1:]):
		return s.refuse(params[0], "a name in an object cannot be a value")
	case s.onlyWhole && (len(params) > 1 || constants[0] != "" || constants[1] != ""):
		return s.refuse(params[0], "the script runs programs or further code, and a value in a longer text could become a part of it; expected it alone")
	default:
		s.out.WriteString(s.joined(quote, constants, params))
		s.at += end + 1
	}
	s.last = string(quote)
	return nil
}

func (s *jsScanner) joined(quote byte, constants, params []string) string {
	var parts []string
	var inner strings.Builder
	for i, constant := range constants {
		if constant != "" {
			parts = append(parts, string(quote)+constant+string(quote))
		}
		inner.WriteString(constant)
		if i < len(params) {
			name := s.result.jsName(params[i], true)
			parts = append(parts, name)
			inner.WriteString("${" + name + "}")
		}
	}
	if quote == '`' {
		return "`" + inner.String() + "`" // it may have a tag
	}
	return "(" + strings.Join(parts, " + ") + ")"
}

// isKey reports whether a text or placeholder is the name of a member in an object.
func (s *jsScanner) isKey(after string) bool {
	return (s.last == "{" || s.last == ",") && strings.HasPrefix(strings.TrimLeft(after, " \t\r\n"), ":")
}

// placeholder compiles a placeholder outside a text. It becomes the value in its own type.
func (s *jsScanner) placeholder() error {
	param, length := placeholder(s.script[s.at:])
	if length == 0 {
		return compileError(s.script, s.at, `"${" has no "}"`)
	}
	after := s.script[s.at+length:]
	switch {
	case s.at > 0 && (isWordByte(s.script[s.at-1]) || strings.ContainsRune("}\"'`$", rune(s.script[s.at-1]))),
		after != "" && (isWordByte(after[0]) || strings.ContainsRune("\"'`$", rune(after[0]))):
		return s.refuse(param, "it touches a word; expected a sign or a space around it, or a text around both")
	case s.isKey(after):
		return s.refuse(param, "a name in an object cannot be a value")
	case slices.Contains([]string{".", "const", "let", "var", "function", "class", "import", "break", "continue"}, s.last):
		return s.refuse(param, fmt.Sprintf("a value cannot stand after %q", s.last))
	}
	s.out.WriteString(s.result.jsName(param, false))
	s.at += length
	s.last = "]"
	return nil
}

func (s *jsScanner) refuse(param, why string) error {
	return compileError(s.script, s.at, "${%s} cannot stand there: %s", aai.CleanLabel(param, 60), why)
}

func (t *template) jsName(param string, asText bool) string {
	return fmt.Sprintf("aaiValues[%d]", t.slotOf(param, asText))
}

// jxa returns the runner with the script and the values of a call as one JSON text.
func (t *template) jxa(values []any) (string, error) {
	job, err := json.Marshal(map[string]any{"script": t.code, "values": values})
	if err != nil {
		return "", unsuitable("JSON values", "others")
	}
	return runner + "(JSON.parse(" + quoteJS(string(job)) + "))\n", nil
}

// quoteJS returns a text as a literal of JavaScript in ASCII.
func quoteJS(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range text {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteRune(c)
		case c >= ' ' && c < 0x7F:
			b.WriteRune(c)
		default:
			for _, unit := range utf16.Encode([]rune{c}) {
				fmt.Fprintf(&b, `\u%04x`, unit)
			}
		}
	}
	b.WriteByte('"')
	return b.String()
}
