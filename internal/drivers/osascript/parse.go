package osascript

import (
	"encoding/json"
	"regexp"
	"strings"
)

// parse converts the source text of a value, as osascript -s s prints it, to JSON: texts, numbers with a decimal point or comma,
// booleans, missing value, lists and records. A constant such as "unread" becomes a text, and any other value, such as a date or a
// reference to an object of an app, {"object": its source text}.
func parse(source string) any {
	p := &valueParser{text: source}
	value, ok := p.value(0)
	if p.skip(); !ok || p.at < len(p.text) {
		return opaque(source)
	}
	return value
}

func opaque(source string) any { return map[string]any{"object": strings.TrimSpace(source)} }

type valueParser struct {
	text string
	at   int
}

func (p *valueParser) skip() {
	for p.at < len(p.text) && strings.ContainsRune(" \t\r\n", rune(p.text[p.at])) {
		p.at++
	}
}

// next reports whether the sign is next, and passes it.
func (p *valueParser) next(sign byte) bool {
	if p.skip(); p.at < len(p.text) && p.text[p.at] == sign {
		p.at++
		return true
	}
	return false
}

func (p *valueParser) value(depth int) (any, bool) {
	p.skip()
	switch {
	case p.at >= len(p.text) || depth > 2*maxNesting:
		return nil, false
	case p.text[p.at] == '{':
		p.at++
		return p.braces(depth)
	}
	begin := p.at
	if text, ok := p.literal(); ok && p.ends() {
		return text, true
	}
	p.at = begin
	if !p.other() {
		return nil, false
	}
	return word(p.text[begin:p.at]), true
}

// ends reports whether a value ends here.
func (p *valueParser) ends() bool {
	p.skip()
	return p.at >= len(p.text) || p.text[p.at] == ',' || p.text[p.at] == '}'
}

// literal reads a text.
func (p *valueParser) literal() (string, bool) {
	if p.text[p.at] != '"' {
		return "", false
	}
	var b strings.Builder
	for i := p.at + 1; i < len(p.text); i++ {
		switch c := p.text[i]; c {
		case '"':
			p.at = i + 1
			return b.String(), true
		case '\\':
			if i++; i == len(p.text) {
				return "", false
			}
			escape := strings.IndexByte(`tnr`, p.text[i])
			if escape < 0 {
				b.WriteByte(p.text[i])
				continue
			}
			b.WriteByte("\t\n\r"[escape])
		default:
			b.WriteByte(c)
		}
	}
	return "", false
}

// braces reads the rest of a list or a record.
func (p *valueParser) braces(depth int) (any, bool) {
	list, record := []any{}, map[string]any{}
	for first := true; !p.next('}'); first = false {
		if !first && !p.next(',') {
			return nil, false
		}
		label := p.label()
		value, ok := p.value(depth + 1)
		if !ok || label != "" && len(list) > 0 || label == "" && len(record) > 0 {
			return nil, false
		}
		if label == "" {
			list = append(list, value)
			continue
		}
		record[label] = value
	}
	if len(record) > 0 {
		return record, true
	}
	return list, true
}

// label reads the label of a record's member, such as "to recipient:", "|odd label|:" or "«class x»:"; without one it stays.
func (p *valueParser) label() string {
	p.skip()
	found := regexp.MustCompile(`^(?:\|((?:[^|\\]|\\.)*)\||(«[^»]*»)|([\pL_][\pL\pN_]*(?: [\pL_][\pL\pN_]*)*)) ?:`).FindStringSubmatch(p.text[p.at:])
	if found == nil {
		return ""
	}
	p.at += len(found[0])
	if found[1] != "" {
		return strings.NewReplacer(`\|`, "|", `\\`, `\`).Replace(found[1])
	}
	return found[2] + found[3]
}

// other passes a value of another form: everything to the comma or brace that ends it, but for texts, names and brackets.
func (p *valueParser) other() bool {
	begin, depth := p.at, 0
	for p.at < len(p.text) {
		c := p.text[p.at]
		switch {
		case c == '"':
			if _, ok := p.literal(); !ok {
				return false
			}
			continue
		case c == '|', strings.HasPrefix(p.text[p.at:], "«"):
			closing, skip := "|", 1
			if c != '|' {
				closing, skip = "»", len("«")
			}
			inner, _, closed := strings.Cut(p.text[p.at+skip:], closing)
			if !closed {
				return false
			}
			p.at += skip + len(inner) + len(closing)
			continue
		case c == '(' || c == '{':
			depth++
		case depth > 0 && (c == ')' || c == '}'):
			depth--
		case depth == 0 && (c == '}' || c == ',' && !p.inNumber(begin)):
			return p.at > begin
		}
		p.at++
	}
	return p.at > begin && depth == 0
}

// inNumber reports whether the comma here is a decimal one: digits are before it, and one directly after it.
func (p *valueParser) inNumber(begin int) bool {
	before := strings.TrimPrefix(p.text[begin:p.at], "-")
	return before != "" && strings.Trim(before, "0123456789") == "" && p.at+1 < len(p.text) && p.text[p.at+1] >= '0' && p.text[p.at+1] <= '9'
}

// word converts a value that is no text, list or record.
func word(source string) any {
	source = strings.TrimSpace(source)
	switch source {
	case "true":
		return true
	case "false":
		return false
	case "missing value", "null":
		return nil
	}
	if regexp.MustCompile(`^-?\d+([.,]\d+)?(E[+-]?\d+)?$`).MatchString(source) {
		if number := strings.Replace(source, ",", ".", 1); json.Valid([]byte(number)) {
			return json.Number(number)
		}
	}
	if regexp.MustCompile(`^\pL+( \pL+)*$`).MatchString(source) && !strings.Contains(" "+source+" ", " of ") {
		return source
	}
	return opaque(source)
}
