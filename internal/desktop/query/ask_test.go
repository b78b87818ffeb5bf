package query

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// say formats elements for messages.
func say(s *desktop.Snapshot, indexes []int) string {
	var out []string
	for _, i := range indexes {
		out = append(out, fmt.Sprintf("%d %s", i, desktop.Describe(&s.Elements[i])))
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// find runs a query that must be valid.
func find(t testing.TB, s *desktop.Snapshot, query string, strategy Strategy) Result {
	t.Helper()
	q, err := Parse(query, strategy)
	if err != nil {
		t.Fatalf("Parse(%q, %s): %v", query, strategy, err)
	}
	return q.Find(s, Options{Root: -1})
}

// expect checks the result of a query: the strategy, and the elements as formatted by Describe.
func expect(t *testing.T, s *desktop.Snapshot, query string, asked, strategy Strategy, want ...string) {
	t.Helper()
	found := find(t, s, query, asked)
	var got []string
	for _, i := range found.Matches {
		got = append(got, desktop.Describe(&s.Elements[i]))
	}
	if found.Strategy != strategy || !slices.Equal(got, want) {
		t.Errorf("%q by %s: %s %q, want %s %q", query, asked, found.Strategy, got, strategy, want)
	}
}
