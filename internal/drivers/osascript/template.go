package osascript

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gybob/aai-gateway"
)

// A slot is a constant of a compiled template. It holds the value of a parameter.
type slot struct {
	param  string
	asText bool // the placeholder stands in a text, so the value must have a text form
}

// A template is a script with names of slots in the place of placeholders.
type template struct {
	code  string
	slots []slot
	// head is the place of the constants in code, in bytes. Only AppleScript has them there.
	head int
}

// slotOf returns the index of the slot for a placeholder.
func (t *template) slotOf(param string, asText bool) int {
	want := slot{param, asText}
	for i, s := range t.slots {
		if s == want {
			return i
		}
	}
	t.slots = append(t.slots, want)
	return len(t.slots) - 1
}

// values returns the values of the slots. A value that is missing is nil; in a text it is an error, since "every message whose
// subject contains ”" would mean every message.
func (t *template) values(args map[string]any) ([]any, error) {
	values := make([]any, len(t.slots))
	for i, s := range t.slots {
		value := args[s.param]
		if s.asText {
			text, err := textOf(value)
			if err != nil {
				return nil, aai.Errorf(aai.InvalidParams, "%s: expected a value, since the script puts it into a text", aai.CleanLabel(s.param, 60))
			}
			value = text
		}
		values[i] = value
	}
	return values, nil
}

// textOf returns a value as text: a text as it is, other values as JSON. It has none for nil.
func textOf(value any) (string, error) {
	switch value := value.(type) {
	case nil:
		return "", fmt.Errorf("no value")
	case string:
		return value, nil
	}
	text, err := json.Marshal(value)
	return string(text), err
}

// placeholder returns the parameter of the placeholder at the beginning of text and its length; 0: there is none.
func placeholder(text string) (param string, length int) {
	rest, found := strings.CutPrefix(text, "${")
	param, _, closed := strings.Cut(rest, "}")
	if !found || !closed {
		return "", 0
	}
	return param, len("${") + len(param) + len("}")
}

// splitLiteral returns the constant parts of a text's source and the parameters between them. It fails for a placeholder that
// follows a backslash.
func splitLiteral(source string) (constants, params []string, ok bool) {
	begin := 0
	for i := 0; i < len(source); i++ {
		if source[i] == '\\' {
			if _, length := placeholder(source[min(i+1, len(source)):]); length > 0 {
				return nil, nil, false
			}
			i++
			continue
		}
		param, length := placeholder(source[i:])
		if length == 0 {
			continue
		}
		constants, params = append(constants, source[begin:i]), append(params, param)
		begin = i + length
		i = begin - 1
	}
	return append(constants, source[begin:]), params, true
}

// A compileError is a fault in a template, at a byte.
func compileError(script string, at int, format string, args ...any) *aai.Error {
	line := strings.Count(script[:at], "\n") + 1
	return aai.Errorf(aai.DescriptorInvalid, "script: line %d: %s", line, fmt.Sprintf(format, args...))
}

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// wordAt returns the word at the beginning of a text.
func wordAt(text string) string {
	n := 0
	for n < len(text) && isWordByte(text[n]) {
		n++
	}
	return text[:n]
}
