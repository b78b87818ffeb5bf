package query

import (
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// An attribute is a property that a term or a predicate tests.
type attribute string

const (
	nameAttribute        attribute = "name"
	valueAttribute       attribute = "value"
	descriptionAttribute attribute = "description"
	identifierAttribute  attribute = "identifier"
	roleAttribute        attribute = "role"
)

// attributeNamed finds an attribute by one of its names, ignoring case.
func attributeNamed(word string) (attribute, bool) {
	switch strings.ToLower(word) {
	case "name", "title", "label":
		return nameAttribute, true
	case "value":
		return valueAttribute, true
	case "description":
		return descriptionAttribute, true
	case "identifier", "id":
		return identifierAttribute, true
	case "role":
		return roleAttribute, true
	}
	return "", false
}

// of returns the attribute's value for an element.
func (a attribute) of(e *desktop.Element) string {
	switch a {
	case nameAttribute:
		return e.Name
	case valueAttribute:
		return e.Value
	case descriptionAttribute:
		return e.Description
	case identifierAttribute:
		return e.Identifier
	case roleAttribute:
		return string(e.Role)
	}
	return ""
}

// A term is a condition on an element: on one attribute, or a combination of conditions by "and" or "or".
type term struct {
	operator string
	parts    []*term

	attribute attribute
	role      *roleTest // of roleAttribute; otherwise one of the next two
	pattern   *pattern
	words     *searchText
}

func (t *term) matches(f *finder, i int, g matchLevel) bool {
	e := &f.s.Elements[i]
	switch {
	case t.operator == "and":
		return !slices.ContainsFunc(t.parts, func(p *term) bool { return !p.matches(f, i, g) })
	case t.operator == "or":
		return slices.ContainsFunc(t.parts, func(p *term) bool { return p.matches(f, i, g) })
	case t.role != nil:
		return t.role.matches(e)
	case t.pattern != nil:
		return t.pattern.re.MatchString(t.attribute.of(e))
	}
	return f.compare(i, t.attribute, t.words, g)
}

// walk calls visit for t, or for the conditions on single attributes that t combines.
func (t *term) walk(visit func(*term)) {
	if t.operator == "" {
		visit(t)
	}
	for _, part := range t.parts {
		part.walk(visit)
	}
}

func (t *term) String() string {
	switch {
	case t.operator != "":
		var parts []string
		for _, part := range t.parts {
			text := part.String()
			if part.operator == "or" {
				text = "(" + text + ")"
			}
			parts = append(parts, text)
		}
		return strings.Join(parts, " "+t.operator+" ")
	case t.role != nil:
		return "role:" + t.role.word
	case t.pattern != nil:
		return string(t.attribute) + ":" + t.pattern.String()
	}
	return string(t.attribute) + ":" + quote(t.words.text)
}

// join combines several conditions.
func join(operator string, parts []*term) *term {
	if len(parts) == 1 {
		return parts[0]
	}
	t := &term{operator: operator}
	for _, part := range parts {
		if part.operator == operator {
			t.parts = append(t.parts, part.parts...)
		} else {
			t.parts = append(t.parts, part)
		}
	}
	return t
}

// keyAt reads a key and its colon at the beginning of a text: an attribute or a role. It returns the length
// of both, or 0.
func keyAt(text string) (attribute, *roleTest, int) {
	n := 0
	for n < len(text) && (text[n]|0x20 >= 'a' && text[n]|0x20 <= 'z') {
		n++
	}
	if n == 0 || n == len(text) || text[n] != ':' {
		return "", nil, 0
	}
	if a, ok := attributeNamed(text[:n]); ok {
		return a, nil, n + 1
	}
	if r, ok := lookUpRole(text[:n]); ok && !strings.HasPrefix(text[n+1:], "//") {
		return "", r, n + 1
	}
	return "", nil, 0
}

// tightKeyAt is keyAt for a key that is followed by a value without a space.
func tightKeyAt(text string) (attribute, *roleTest, int) {
	a, r, n := keyAt(text)
	if n == 0 || n == len(text) || strings.ContainsRune(" \t\n)", rune(text[n])) {
		return "", nil, 0
	}
	return a, r, n
}

// looksLikeTerms reports whether a text begins with a key, or contains an attribute's key later.
func looksLikeTerms(text string) bool {
	start := strings.TrimLeft(text, "( ")
	if _, _, n := keyAt(start); n > 0 && strings.Trim(start[n:], " )") != "" {
		return true
	}
	for i := 1; i < len(text); i++ {
		if text[i-1] == ' ' || text[i-1] == '(' {
			if a, _, _ := tightKeyAt(text[i:]); a != "" {
				return true
			}
		}
	}
	return false
}

// parseTerms parses a query of terms.
func parseTerms(text string, strategy Strategy) (*Query, error) {
	p := &termParser{text: text}
	t, err := p.alternatives()
	if err == nil && p.at < len(text) {
		err = p.fail(p.at, "there is a ) without its (")
	}
	if err != nil {
		return nil, err
	}
	q := &Query{text: t.String(), passes: termPasses(t, strategy), explicit: strategy == Contains, match: t.matches}
	if p.terms == 1 && p.bare && text[0] != '(' {
		// Status: ready may be the short form of two terms, or simply a name: an element with exactly this
		// name takes precedence.
		q.text = text
		q.passes = append([]searchPass{plainPasses(text, Auto)[1]}, q.passes...)
		whole := newSearchText(text)
		q.match = func(f *finder, i int, g matchLevel) bool {
			return f.compare(i, nameAttribute, whole, min(g, undecorated)) || t.matches(f, i, g)
		}
	}
	var all []string
	t.walk(func(t *term) {
		if t.words != nil {
			all = append(all, t.words.text)
		}
		if t.role != nil {
			q.role = t.role
		}
	})
	q.words = strings.Join(all, " ")
	return q, nil
}

// A termParser parses terms by recursive descent.
type termParser struct {
	text  string
	at    int
	depth int
	terms int  // parsed so far
	bare  bool // the last value had no quotes
}

func (p *termParser) fail(at int, format string, args ...any) *aai.Error {
	return badQuery(p.text, at, format, args...)
}

func (p *termParser) rest() string { return p.text[p.at:] }

func (p *termParser) skipSpace() { p.at += len(p.rest()) - len(strings.TrimLeft(p.rest(), " \t\r\n")) }

// alternatives parses terms joined by "or".
func (p *termParser) alternatives() (*term, error) {
	var parts []*term
	for {
		part, err := p.together()
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
		if !p.operator("or", "||") {
			return join("or", parts), nil
		}
	}
}

// together parses terms joined by "and" or by juxtaposition.
func (p *termParser) together() (*term, error) {
	var parts []*term
	for {
		part, err := p.one()
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
		if p.operator("and", "&&") {
			continue
		}
		if p.at == len(p.text) || p.text[p.at] == ')' || operatorAt(p.rest(), "or", "||") > 0 {
			return join("and", parts), nil
		}
	}
}

// operator consumes an operator if it comes next.
func (p *termParser) operator(word, sign string) bool {
	p.skipSpace()
	n := operatorAt(p.rest(), word, sign)
	p.at += n
	return n > 0
}

// operatorAt returns the length of the operator at the beginning of a text, or 0.
func operatorAt(text, word, sign string) int {
	if strings.HasPrefix(text, sign) {
		return len(sign)
	}
	if len(text) < len(word) || !strings.EqualFold(text[:len(word)], word) {
		return 0
	}
	if after := text[len(word):]; after != "" && !strings.ContainsRune(" \t\r\n(\"'", rune(after[0])) {
		return 0
	}
	return len(word)
}

// one parses a term, or terms in parentheses.
func (p *termParser) one() (*term, error) {
	p.skipSpace()
	if p.at == len(p.text) || p.text[p.at] == ')' {
		return nil, p.fail(p.at, "something is missing; expected a term such as role:button or title:Save")
	}
	if p.text[p.at] == '(' {
		return p.group()
	}
	key := keyAt
	if p.terms > 0 {
		key = tightKeyAt
	}
	p.terms++
	attribute, role, n := key(p.rest())
	p.at += n
	switch {
	case role != nil:
		name, err := p.value(nameAttribute)
		if err != nil {
			return nil, err
		}
		return join("and", []*term{{attribute: roleAttribute, role: role}, name}), nil
	case n == 0:
		if err := p.unknownKey(); err != nil {
			return nil, err
		}
		attribute = nameAttribute
	}
	return p.value(attribute)
}

func (p *termParser) group() (*term, error) {
	open := p.at
	if p.depth++; p.depth > maxNesting {
		return nil, p.fail(open, "more than %d parentheses in each other", maxNesting)
	}
	p.at++
	t, err := p.alternatives()
	if err != nil {
		return nil, err
	}
	if p.at == len(p.text) {
		return nil, p.fail(open, "there is a ( without its )")
	}
	p.at++
	p.depth--
	return t, nil
}

// unknownKey returns the error for an unknown word with a colon where a term begins.
func (p *termParser) unknownKey() error {
	word, after, colon := strings.Cut(p.rest(), ":")
	letters := strings.Trim(strings.ToLower(word), "abcdefghijklmnopqrstuvwxyz") == ""
	if !colon || word == "" || !letters || after == "" || strings.ContainsRune(" /", rune(after[0])) {
		return nil
	}
	keys := []string{"role", "name", "title", "label", "value", "description", "identifier", "id"}
	e := p.fail(p.at, "there is no key %s; expected role, name, value, description or identifier", desktop.Quote(word, 40))
	e.Candidates = aai.Nearest(word, keys, 3)
	return e
}

// value parses the value after a key.
func (p *termParser) value(a attribute) (*term, error) {
	p.skipSpace()
	start := p.at
	if start < len(p.text) && (p.text[start] == '"' || p.text[start] == '\'') {
		return p.quoted(a)
	}
	if end := regexEnd(p.rest()); end > 0 && a != roleAttribute {
		anyCase := strings.HasPrefix(p.rest()[end:], "/i")
		source := p.rest()[1:end]
		after := strings.TrimPrefix(p.rest()[end+1:], "i")
		if after == "" || strings.ContainsRune(" \t\r\n)", rune(after[0])) {
			re, err := compile(p.text, start, source, anyCase)
			p.at = len(p.text) - len(after)
			return &term{attribute: a, pattern: re}, err
		}
	}
	p.at = p.bareEnd(a == roleAttribute)
	text := strings.TrimSpace(p.text[start:p.at])
	p.bare = true
	if text == "" {
		return nil, p.fail(start, "the value is missing; expected a word, or text in quotes")
	}
	return p.finish(a, start, text)
}

func (p *termParser) quoted(a attribute) (*term, error) {
	start := p.at
	text, after, ok := cutQuoted(p.rest())
	switch {
	case !ok:
		return nil, p.fail(start, "the quotes are not closed; expected %c at the end of the text", p.text[start])
	case after != "" && !strings.ContainsRune(" \t\r\n)&|", rune(after[0])):
		return nil, p.fail(len(p.text)-len(after), "something follows the quotes at once; expected a space")
	case text == "":
		return nil, p.fail(start, "the text in quotes is empty; expected a text to look for")
	}
	p.at = len(p.text) - len(after)
	p.bare = false
	return p.finish(a, start, text)
}

func (p *termParser) finish(a attribute, start int, text string) (*term, error) {
	if a != roleAttribute {
		return &term{attribute: a, words: newSearchText(text)}, nil
	}
	role, ok := lookUpRole(text)
	if !ok {
		return nil, unknownRole(p.text, start, text)
	}
	return &term{attribute: a, role: role}, nil
}
