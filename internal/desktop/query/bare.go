package query

import "strings"

// bareEnd returns the end of an unquoted value: one word, or all text until the next term, an operator
// before a term, the closing parenthesis of the group, or the end. So title:Cut and paste has one value,
// and title:Cut and role:button has two terms.
func (p *termParser) bareEnd(oneWord bool) int {
	open := 0
	for i := p.at; i < len(p.text); i++ {
		c := p.text[i]
		switch {
		case c == '(':
			open++
		case c == ')' && open > 0:
			open--
		case c == ')' && p.depth > 0:
			return i
		case isSpace(c) && oneWord:
			return i
		}
		if (i == p.at || isSpace(p.text[i-1])) && endsValue(p.text[i:]) {
			return i
		}
	}
	return len(p.text)
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// endsValue reports whether an unquoted value ends before this text, which stands at the beginning of a
// word.
func endsValue(text string) bool {
	if a, _, _ := tightKeyAt(text); a != "" || strings.HasPrefix(text, "&&") || strings.HasPrefix(text, "||") {
		return true
	}
	n := max(operatorAt(text, "and", "&&"), operatorAt(text, "or", "||"))
	if n == 0 {
		return false
	}
	_, _, key := tightKeyAt(strings.TrimLeft(text[n:], " \t\r\n("))
	return key > 0
}
