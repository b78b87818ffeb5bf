package query

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

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
	assert.NilError(t, err, "%q %s", query, strategy)
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
	assert.Check(t, is.Equal(found.Strategy, strategy), "%q %s %q %q", query, asked, got, want)
	assert.Check(t, slices.Equal(got, want), "%q by %s: %s %q, want %s %q", query, asked, found.Strategy, got, strategy, want)
}
