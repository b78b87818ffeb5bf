package desktop

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// qtTree builds a snapshot from an outline: one element per line, two spaces per
// level, a role, a name in quotes, and then any of #identifier, ="value",
// ~"description", @id, 3/10 (its place in its set), and words of states. All is
// showing that is not hidden, and what has no @id gets one of its own.
func qtTree(t testing.TB, outline string) *Snapshot {
	t.Helper()
	s := &Snapshot{}
	var stack []int
	for line := range strings.Lines(outline) {
		body := strings.TrimSpace(line)
		if body == "" {
			continue
		}
		depth := (len(line) - len(strings.TrimLeft(line, " "))) / 2
		e := Element{ID: ID(fmt.Sprintf("auto%d", len(s.Elements))), States: Showing | Enabled, Parent: -1}
		stack = stack[:depth]
		if depth > 0 {
			e.Parent = stack[depth-1]
		}
		role, rest, _ := strings.Cut(body, " ")
		e.Role = Role(role)
		for rest = strings.TrimSpace(rest); rest != ""; rest = strings.TrimSpace(rest) {
			rest = qtPart(t, &e, rest)
		}
		stack = append(stack, len(s.Elements))
		s.Elements = append(s.Elements, e)
	}
	Arrange(s.Elements)
	return s
}

// qtPart reads one of the parts of a line and returns the rest.
func qtPart(t testing.TB, e *Element, text string) string {
	t.Helper()
	mark := text[0]
	if mark == '"' || mark == '=' || mark == '~' {
		text = strings.TrimLeft(text, "=~")
		quoted, err := strconv.QuotedPrefix(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		value, _ := strconv.Unquote(quoted)
		switch mark {
		case '"':
			e.Name = value
		case '=':
			e.Value = value
		case '~':
			e.Description = value
		}
		return text[len(quoted):]
	}
	word, rest, _ := strings.Cut(text, " ")
	switch place, size, isPlace := strings.Cut(word, "/"); {
	case mark == '#':
		e.Identifier = word[1:]
	case mark == '@':
		e.ID = ID(word[1:])
	case isPlace:
		e.Pos, _ = strconv.Atoi(place)
		e.Size, _ = strconv.Atoi(size)
	case word == "hidden":
		e.States &^= Showing
	case StateNamed(word) != 0:
		e.States |= StateNamed(word)
	default:
		t.Fatalf("no part of an element: %q", word)
	}
	return rest
}

// qtSay names elements for messages.
func qtSay(s *Snapshot, indexes []int) string {
	var out []string
	for _, i := range indexes {
		out = append(out, fmt.Sprintf("%d %s", i, Describe(&s.Elements[i])))
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// qtFind asks a query of which the test knows that it can be understood.
func qtFind(t testing.TB, s *Snapshot, query string, strategy Strategy) Found {
	t.Helper()
	q, err := ParseQuery(query, strategy)
	if err != nil {
		t.Fatalf("ParseQuery(%q, %s): %v", query, strategy, err)
	}
	return q.Find(s, FindOptions{Root: -1})
}

// qtExpect checks what a query finds: the strategy, and the elements as Describe
// tells them.
func qtExpect(t *testing.T, s *Snapshot, query string, asked, strategy Strategy, want ...string) {
	t.Helper()
	found := qtFind(t, s, query, asked)
	var got []string
	for _, i := range found.Matches {
		got = append(got, Describe(&s.Elements[i]))
	}
	if found.Strategy != strategy || !slices.Equal(got, want) {
		t.Errorf("%q by %s: %s %q, want %s %q", query, asked, found.Strategy, got, strategy, want)
	}
}
