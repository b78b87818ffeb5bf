package query

import (
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// A path is a query in the supported subset of XPath 1.0.
type path struct {
	steps   []step
	filters []*predicate // of (//button)[2]: on all elements that the steps found
}

// A step goes from elements to their children, or to all of their descendants.
type step struct {
	deep       bool
	role       *roleTest // nil for *
	predicates []*predicate
}

// A predicate is a condition in brackets. Its operator is "number", "last" (the last of the elements that
// fit so far), "and", "or" or "not" of parts, or for an attribute "=", "!=", "contains", "starts-with" and
// "exists".
type predicate struct {
	operator  string
	number    int
	parts     []*predicate
	attribute attribute
	text      string
	role      *roleTest // of @role="…"
}

func (p *path) String() string {
	var b strings.Builder
	if p.filters != nil {
		b.WriteByte('(')
	}
	for _, s := range p.steps {
		b.WriteString("/")
		if s.deep {
			b.WriteString("/")
		}
		if s.role == nil {
			b.WriteString("*")
		} else {
			b.WriteString(s.role.word)
		}
		writePredicates(&b, s.predicates)
	}
	if p.filters != nil {
		b.WriteByte(')')
		writePredicates(&b, p.filters)
	}
	return b.String()
}

func writePredicates(b *strings.Builder, predicates []*predicate) {
	for _, p := range predicates {
		b.WriteString("[" + p.String() + "]")
	}
}

func (p *predicate) String() string {
	switch p.operator {
	case "number":
		return strconv.Itoa(p.number)
	case "last":
		return "last()"
	case "not":
		return "not(" + p.parts[0].String() + ")"
	case "and", "or":
		var parts []string
		for _, part := range p.parts {
			text := part.String()
			if part.operator == "or" || part.operator == "and" {
				text = "(" + text + ")"
			}
			parts = append(parts, text)
		}
		return strings.Join(parts, " "+p.operator+" ")
	case "exists":
		return "@" + string(p.attribute)
	case "=", "!=":
		return "@" + string(p.attribute) + p.operator + literal(p.text)
	}
	return p.operator + "(@" + string(p.attribute) + "," + literal(p.text) + ")"
}

// literal quotes a text that came from a literal and thus contains at most one of the two kinds of quotes.
func literal(text string) string {
	if strings.Contains(text, "'") {
		return `"` + text + `"`
	}
	return "'" + text + "'"
}

// parsePath parses a path query.
func parsePath(text string) (*Query, error) {
	p := &pathParser{text: text}
	found, err := p.path()
	if err != nil {
		return nil, err
	}
	q := &Query{text: found.String(), passes: []searchPass{{strategy: XPath, definite: true, find: found.find}}}
	q.words = strings.Join(p.literals, " ")
	q.role = found.steps[len(found.steps)-1].role
	return q, nil
}

// A pathParser parses a path by recursive descent.
type pathParser struct {
	text     string
	at       int
	depth    int
	literals []string
}

func (p *pathParser) fail(at int, format string, args ...any) *aai.Error {
	return badQuery(p.text, at, format, args...)
}

// take consumes the token if it comes next.
func (p *pathParser) take(token string) bool {
	p.at += len(p.text[p.at:]) - len(strings.TrimLeft(p.text[p.at:], " \t\r\n"))
	if !strings.HasPrefix(p.text[p.at:], token) {
		return false
	}
	p.at += len(token)
	return true
}

// word reads letters, digits and hyphens.
func (p *pathParser) word() string {
	p.take("")
	start := p.at
	for p.at < len(p.text) {
		c := p.text[p.at]
		if (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			break
		}
		p.at++
	}
	return p.text[start:p.at]
}

func (p *pathParser) path() (*path, error) {
	whole := p.take("(")
	found := &path{}
	for {
		s, err := p.step(len(found.steps) == 0)
		if err != nil {
			return nil, err
		}
		found.steps = append(found.steps, s)
		if p.take(""); !strings.HasPrefix(p.text[p.at:], "/") {
			break
		}
	}
	if whole {
		if !p.take(")") {
			return nil, p.fail(p.at, "expected ) after the path in parentheses")
		}
		var err error
		if found.filters, err = p.predicates(); err != nil {
			return nil, err
		}
	}
	if p.take(""); p.at < len(p.text) {
		return nil, p.fail(p.at, "expected /, // or [ after a step, or the end")
	}
	return found, nil
}

func (p *pathParser) step(first bool) (step, error) {
	s := step{}
	switch {
	case p.take("//"):
		s.deep = true
	case p.take("/"):
	case first:
		s.deep = true // a relative path may begin at any depth
	}
	if !p.take("*") {
		p.take("")
		start := p.at
		word := p.word()
		if word == "" {
			return s, p.fail(start, "expected a role such as button, or *")
		}
		role, ok := lookUpRole(word)
		if !ok {
			return s, unknownRole(p.text, start, word)
		}
		s.role = role
	}
	var err error
	s.predicates, err = p.predicates()
	return s, err
}

func (p *pathParser) predicates() ([]*predicate, error) {
	var all []*predicate
	for p.take("[") {
		one, err := p.position()
		if one == nil && err == nil {
			one, err = p.alternatives()
		}
		if err != nil {
			return nil, err
		}
		if !p.take("]") {
			return nil, p.fail(p.at, "expected ] at the end of the predicate")
		}
		all = append(all, one)
	}
	return all, nil
}

// position parses a number or last(), and returns nil for any other predicate.
func (p *pathParser) position() (*predicate, error) {
	p.take("")
	start := p.at
	if p.take("last()") {
		return &predicate{operator: "last"}, nil
	}
	word := p.word()
	if word == "" || word[0] < '0' || word[0] > '9' {
		p.at = start
		return nil, nil
	}
	n, err := strconv.Atoi(word)
	if err != nil || n < 1 {
		return nil, p.fail(start, "%s is not a position; expected a number from 1", desktop.Quote(word, 30))
	}
	return &predicate{operator: "number", number: n}, nil
}

func (p *pathParser) alternatives() (*predicate, error) {
	return p.series("or", func() (*predicate, error) { return p.series("and", p.condition) })
}

// series parses conditions joined by an operator.
func (p *pathParser) series(operator string, read func() (*predicate, error)) (*predicate, error) {
	var parts []*predicate
	for {
		part, err := read()
		if err != nil {
			return nil, err
		}
		if part.operator == operator {
			parts = append(parts, part.parts...)
		} else {
			parts = append(parts, part)
		}
		p.take("")
		start := p.at
		if p.word() != operator {
			p.at = start
			break
		}
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	return &predicate{operator: operator, parts: parts}, nil
}

// condition parses a condition on an attribute, not(…), or one in parentheses.
func (p *pathParser) condition() (*predicate, error) {
	if p.depth++; p.depth > maxNesting {
		return nil, p.fail(p.at, "more than %d parentheses in each other", maxNesting)
	}
	defer func() { p.depth-- }()
	p.take("")
	start := p.at
	switch {
	case p.take("("):
		return p.closed(p.alternatives)
	case p.take("not("):
		inside, err := p.closed(p.alternatives)
		return &predicate{operator: "not", parts: []*predicate{inside}}, err
	case p.take("contains("):
		return p.closed(func() (*predicate, error) { return p.call("contains") })
	case p.take("starts-with("):
		return p.closed(func() (*predicate, error) { return p.call("starts-with") })
	}
	c := &predicate{operator: "exists"}
	var err error
	if c.attribute, err = p.attribute(); err != nil {
		return nil, err
	}
	switch {
	case p.take("!="):
		c.operator = "!="
	case p.take("="):
		c.operator = "="
	default:
		return c, nil
	}
	if c.text, err = p.literal(); err != nil {
		return nil, err
	}
	if c.attribute == roleAttribute {
		var ok bool
		if c.role, ok = lookUpRole(c.text); !ok {
			return nil, unknownRole(p.text, start, c.text)
		}
		c.text = c.role.word
	}
	return c, nil
}

func (p *pathParser) closed(read func() (*predicate, error)) (*predicate, error) {
	inside, err := read()
	if err == nil && !p.take(")") {
		err = p.fail(p.at, "expected )")
	}
	return inside, err
}

// call parses the two arguments of a function.
func (p *pathParser) call(function string) (*predicate, error) {
	c := &predicate{operator: function}
	var err error
	if c.attribute, err = p.attribute(); err != nil {
		return nil, err
	}
	if !p.take(",") {
		return nil, p.fail(p.at, "expected a comma and a text in quotes")
	}
	c.text, err = p.literal()
	return c, err
}

// attribute parses @name, and the equivalent text() or a point.
func (p *pathParser) attribute() (attribute, error) {
	if p.take("text()") || p.take(".") {
		return nameAttribute, nil
	}
	start := p.at
	if p.take("@") {
		word := p.word()
		if len(word) > 2 && strings.EqualFold(word[:2], "ax") {
			word = word[2:]
		}
		if a, ok := attributeNamed(word); ok {
			return a, nil
		}
	}
	return "", p.fail(start, "expected @name, @value, @description, @identifier, @role, contains(…), starts-with(…), not(…), last() or a number")
}

func (p *pathParser) literal() (string, error) {
	p.take("")
	if p.at < len(p.text) {
		if quote := p.text[p.at]; quote == '\'' || quote == '"' {
			if n := strings.IndexByte(p.text[p.at+1:], quote); n >= 0 {
				text := p.text[p.at+1 : p.at+1+n]
				p.at += n + 2
				p.literals = append(p.literals, text)
				return text, nil
			}
		}
	}
	return "", p.fail(p.at, "expected a text in quotes, such as 'Save'")
}
