package catalog

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
)

// members reads the members of one JSON object. Keys are requested in snake_case and also match
// in camelCase. The method unknown reports the members that were not requested.
type members struct {
	p         *parser
	node      *node
	requested []string
	// fallback is a second object for lookups: one dialect writes keys in the tool that the other
	// writes in the tool's "execution".
	fallback *members
}

// members opens an object. If n is not one, it reports a fault and returns an empty object, so
// that reading continues and finds more faults.
func (p *parser) members(n *node, expected string) *members {
	if n == nil {
		return &members{p: p, node: &node{Kind: object}}
	}
	if n.Kind != object {
		p.fault(n.Path(), "is %s; expected an object%s", n.KindName(), expected)
		return &members{p: p, node: n.EmptyObject()}
	}
	return &members{p: p, node: n, requested: p.reader.requestedBuffer()}
}

// requestedBuffer returns a buffer for the names requested of one object, which are usually few.
func (r *reader) requestedBuffer() []string {
	const most, objects = 24, 8
	if cap(r.requested)-len(r.requested) < most {
		r.requested = make([]string, 0, objects*most)
	}
	begin := len(r.requested)
	r.requested = r.requested[:begin+most]
	return r.requested[begin : begin : begin+most]
}

// take returns the member with one of the names, or nil. Null counts as absent. A member in two
// spellings is a fault.
func (m *members) take(names ...string) *node {
	m.requested = append(m.requested, names[0])
	var found *node
	for c := m.node.First; c != nil; c = c.Next {
		if !matchesKey(c.Name, names) {
			continue
		}
		c.Mark = true
		if found != nil {
			m.p.fault(m.node.Path(), "both %q and %q are given; they mean the same, keep one", found.Name, c.Name)
			continue
		}
		found = c
	}
	if m.fallback != nil {
		other := m.fallback.take(names...)
		if found != nil && other != nil {
			m.p.fault(other.Path(), "is given here and at %s; keep one", found.Path())
		}
		if found == nil {
			found = other
		}
	}
	if found != nil && found.Kind == null {
		return nil
	}
	return found
}

func matchesKey(key string, names []string) bool {
	for _, name := range names {
		if key == name || isCamel(key, name) {
			return true
		}
	}
	return false
}

// isCamel reports whether key is the camelCase spelling of a snake_case name.
func isCamel(key, snake string) bool {
	k := 0
	for i := 0; i < len(snake); i++ {
		c := snake[i]
		if c == '_' && i+1 < len(snake) {
			i++
			c = snake[i] - 'a' + 'A'
		}
		if k >= len(key) || key[k] != c {
			return false
		}
		k++
	}
	return k == len(key)
}

// pathOf returns the path of a member as spelled, or the path that it would have.
func (m *members) pathOf(names ...string) string {
	for c := m.node.First; c != nil; c = c.Next {
		if matchesKey(c.Name, names) {
			return c.Path()
		}
	}
	if m.fallback != nil {
		return m.fallback.pathOf(names...)
	}
	return joinPath(m.node.Path(), names[0], -1)
}

// text returns a string member, or "" if it is absent.
func (m *members) text(names ...string) string {
	n := m.take(names...)
	if n == nil {
		return ""
	}
	if n.Kind != text {
		m.p.fault(n.Path(), "is %s; expected a string", n.KindName())
		return ""
	}
	return n.Text
}

// must returns a string member that may be neither absent nor empty. expected completes the
// fault's text.
func (m *members) must(expected string, names ...string) string {
	n := m.take(names...)
	switch {
	case n == nil:
		m.p.fault(m.pathOf(names...), "missing; %s", expected)
	case n.Kind != text:
		m.p.fault(n.Path(), "is %s; %s", n.KindName(), expected)
	case n.Text == "":
		m.p.fault(n.Path(), "empty; %s", expected)
	default:
		return n.Text
	}
	return ""
}

// word returns a string member that is one of the words, or "" if it is absent.
func (m *members) word(name string, words ...string) string {
	n := m.take(name)
	if n == nil {
		return ""
	}
	if n.Kind == text {
		for _, w := range words {
			if n.Text == w {
				return w
			}
		}
	}
	m.p.fault(n.Path(), "is %s; expected %s", quoteScalar(n), oneOf(words))
	return ""
}

// strings returns an object member with scalar values, as text.
func (m *members) strings(name, expected string) map[string]string {
	n := m.take(name)
	if n == nil {
		return nil
	}
	if n.Kind != object {
		m.p.fault(n.Path(), "is %s; expected an object%s", n.KindName(), expected)
		return nil
	}
	values := map[string]string{}
	for c := n.First; c != nil; c = c.Next {
		switch c.Kind {
		case text:
			values[c.Name] = c.Text
		case number, trueKind, falseKind:
			values[c.Name] = string(c.Raw())
		default:
			m.p.fault(c.Path(), "is %s; expected a string", c.KindName())
		}
	}
	return values
}

// Bounds of a tool's timeout.
const (
	minTimeout = time.Millisecond
	maxTimeout = time.Hour
)

// timeout returns the member "timeout", counted in units, or 0 if it is absent.
func (m *members) timeout(unit time.Duration) time.Duration {
	n := m.take("timeout")
	if n == nil {
		return 0
	}
	word := "seconds"
	if unit == time.Millisecond {
		word = "milliseconds"
	}
	if n.Kind != number {
		m.p.fault(n.Path(), "is %s; expected a number of %s", n.KindName(), word)
		return 0
	}
	count, err := strconv.ParseFloat(n.Text, 64)
	if err != nil || count < float64(minTimeout)/float64(unit) || count > float64(maxTimeout)/float64(unit) {
		m.p.fault(n.Path(), "is %s %s; expected 1 millisecond to 1 hour", quoteScalar(n), word)
		return 0
	}
	return time.Duration(math.Round(count * float64(unit)))
}

// unknown warns of members that were not requested. It ignores keys for people and other programs
// ("$schema", "$comment", "x-…", "_…").
func (m *members) unknown() {
	for c := m.node.First; c != nil && len(m.p.warnings.List) < maxFaults; c = c.Next {
		if c.Mark || strings.HasPrefix(c.Name, "$") || strings.HasPrefix(c.Name, "x-") || strings.HasPrefix(c.Name, "_") {
			continue
		}
		problem := "unknown key; it is ignored"
		if near := aai.Nearest(c.Name, m.requested, 1); len(near) > 0 {
			problem += fmt.Sprintf(" (did you mean %q?)", near[0])
		}
		m.p.warn(c.Path(), "%s", problem)
	}
	if m.fallback != nil {
		m.fallback.unknown()
	}
}

// quoteScalar formats a scalar for a message; an object or a list yields its kind.
func quoteScalar(n *node) string {
	switch n.Kind {
	case text:
		return strconv.Quote(aai.CleanLabel(n.Text, maxName))
	case number:
		return aai.CleanLabel(n.Text, maxName)
	case object, list:
		return n.KindName()
	}
	return n.Kind.String()
}

// oneOf lists words as a choice: "a", "b" or "c".
func oneOf(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = strconv.Quote(w)
	}
	if len(quoted) == 1 {
		return quoted[0]
	}
	last := len(quoted) - 1
	return strings.Join(quoted[:last], ", ") + " or " + quoted[last]
}
