package osascript

import (
	"fmt"
	"strconv"
	"strings"
)

// A token of AppleScript, as this file reads it. It shares no code with the compiler, and knows only the language's grammar.
type token struct{ kind, text string }

// lex reads a script and checks its texts and brackets. A text has the five escapes of the language and no others.
func lex(script string) ([]token, error) {
	in := []rune(script)
	var tokens []token
	var open []rune
	for i := 0; i < len(in); {
		c := in[i]
		at := func(n int) rune {
			if i+n < len(in) {
				return in[i+n]
			}
			return 0
		}
		switch {
		case c == '\n' || c == '\r':
			tokens = append(tokens, token{"line", ""})
			i++
		case c == ' ' || c == '\t':
			i++
		case c == '-' && at(1) == '-' || c == '#':
			for i < len(in) && in[i] != '\n' {
				i++
			}
		case c == '(' && at(1) == '*':
			depth := 0
			for {
				if i+1 >= len(in) {
					return nil, fmt.Errorf("open comment")
				}
				if in[i] == '(' && in[i+1] == '*' {
					depth++
					i += 2
				} else if in[i] == '*' && in[i+1] == ')' {
					depth--
					i += 2
				} else {
					i++
				}
				if depth == 0 {
					break
				}
			}
		case c == '"':
			var text strings.Builder
			i++
			for ; ; i++ {
				if i >= len(in) {
					return nil, fmt.Errorf("open text")
				}
				if in[i] == '"' {
					break
				}
				if in[i] != '\\' {
					text.WriteRune(in[i])
					continue
				}
				i++
				meaning, known := map[rune]rune{'"': '"', '\\': '\\', 't': '\t', 'r': '\r', 'n': '\n'}[atOrZero(in, i)]
				if !known {
					return nil, fmt.Errorf("unknown escape in a text")
				}
				text.WriteRune(meaning)
			}
			i++
			tokens = append(tokens, token{"text", text.String()})
		case c == '|' || c == '«':
			closing := map[rune]rune{'|': '|', '«': '»'}[c]
			begin := i + 1
			for i++; i < len(in) && in[i] != closing; i++ {
				if in[i] == '\n' {
					return nil, fmt.Errorf("open name")
				}
			}
			if i >= len(in) {
				return nil, fmt.Errorf("open name")
			}
			tokens = append(tokens, token{"name", string(in[begin:i])})
			i++
		case strings.ContainsRune("({", c):
			open = append(open, map[rune]rune{'(': ')', '{': '}'}[c])
			tokens = append(tokens, token{"sign", string(c)})
			i++
		case strings.ContainsRune(")}", c):
			if len(open) == 0 || open[len(open)-1] != c {
				return nil, fmt.Errorf("unexpected %q", c)
			}
			open = open[:len(open)-1]
			tokens = append(tokens, token{"sign", string(c)})
			i++
		case letterOrDigit(c):
			begin := i
			for i < len(in) && letterOrDigit(in[i]) {
				i++
			}
			tokens = append(tokens, token{"word", string(in[begin:i])})
		default:
			tokens = append(tokens, token{"sign", string(c)})
			i++
		}
	}
	if len(open) > 0 {
		return nil, fmt.Errorf("open bracket")
	}
	return tokens, nil
}

func atOrZero(in []rune, i int) rune {
	if i < len(in) {
		return in[i]
	}
	return 0
}

func letterOrDigit(c rune) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c > 0xBF
}

// split separates the properties of values from the rest of the tokens.
func split(tokens []token) (properties [][]token, code []token) {
	var line []token
	for _, t := range append(tokens, token{"line", ""}) {
		if t.kind != "line" {
			line = append(line, t)
			continue
		}
		if len(line) > 3 && line[0] == (token{"word", "property"}) && line[1].kind == "name" && strings.HasPrefix(line[1].text, "aai ") && line[2].text == ":" {
			properties = append(properties, line[3:])
		} else {
			code = append(append(code, line...), t)
		}
		line = nil
	}
	return properties, code
}

// evaluate returns the value of a constant expression: texts joined by &, "character id", numbers, lists and records.
func evaluate(tokens []token) (value any, err error) {
	e := &evaluator{tokens}
	value, err = e.value()
	if err == nil && len(e.rest) > 0 {
		err = fmt.Errorf("more after the value: %v", e.rest)
	}
	return value, err
}

type evaluator struct{ rest []token }

func (e *evaluator) take() token {
	if len(e.rest) == 0 {
		return token{}
	}
	t := e.rest[0]
	e.rest = e.rest[1:]
	return t
}

func (e *evaluator) is(text string) bool {
	return len(e.rest) > 0 && e.rest[0].kind != "text" && e.rest[0].text == text
}

func (e *evaluator) value() (any, error) {
	left, err := e.operand()
	for err == nil && (e.is("&") || e.is("/") || e.is("*")) {
		sign := e.take().text
		var right any
		if right, err = e.operand(); err != nil {
			break
		}
		a, isText := left.(string)
		b, both := right.(string)
		x, isNumber := left.(float64)
		y, numbers := right.(float64)
		switch {
		case sign == "&" && isText && both:
			left = a + b
		case sign == "/" && isNumber && numbers:
			left = x / y
		case sign == "*" && isNumber && numbers:
			left = x * y
		default:
			err = fmt.Errorf("%v %s %v", left, sign, right)
		}
	}
	return left, err
}

func (e *evaluator) operand() (any, error) {
	switch t := e.take(); {
	case t.kind == "text":
		return t.text, nil
	case t.text == "true" || t.text == "false":
		return t.text == "true", nil
	case t.text == "missing" && e.take().text == "value":
		return nil, nil
	case t.text == "-":
		v, err := e.operand()
		n, ok := v.(float64)
		if !ok {
			return nil, fmt.Errorf("minus without a number")
		}
		return -n, err
	case t.text == "character" && e.take().text == "id":
		n, err := strconv.Atoi(e.take().text)
		return string(rune(n)), err
	case t.text == "(":
		v, err := e.value()
		if err == nil && e.take().text != ")" {
			err = fmt.Errorf("no bracket")
		}
		return v, err
	case t.text == "{":
		return e.braces()
	case t.kind == "word":
		n, err := strconv.ParseFloat(t.text, 64)
		if e.is("^") && err == nil {
			e.take()
			power, bad := strconv.ParseFloat(e.take().text, 64)
			result := 1.0
			for ; power > 0; power-- {
				result *= n
			}
			return result, bad
		}
		return n, err
	default:
		return nil, fmt.Errorf("unexpected %v", t)
	}
}

func (e *evaluator) braces() (any, error) {
	list, record := []any{}, map[string]any{}
	for !e.is("}") {
		if len(list)+len(record) > 0 && e.take().text != "," {
			return nil, fmt.Errorf("no comma")
		}
		label := ""
		if len(e.rest) > 1 && e.rest[0].kind == "name" {
			label = e.take().text
			if e.take().text != ":" {
				return nil, fmt.Errorf("no colon")
			}
		}
		value, err := e.value()
		if err != nil {
			return nil, err
		}
		if label != "" {
			record[label] = value
		} else {
			list = append(list, value)
		}
	}
	e.take()
	if len(record) > 0 {
		return record, nil
	}
	return list, nil
}
