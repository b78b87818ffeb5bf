package search_test

import (
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/catalog/search"
)

// BenchmarkFind is a request among 500 apps with 6,000 tools, one after the other.
func BenchmarkFind(b *testing.B) {
	apps := append(realApps(b), distractorApps(487)...)
	s := search.New(search.Config{Apps: func() []*aai.App { return apps }})
	defer s.Close() //nolint:errcheck // it is in memory
	all := searchCases(b)
	for i := 0; b.Loop(); i++ {
		_, err := s.Find(b.Context(), aai.Caller{}, all[i%len(all)].words, "")
		assert.NilError(b, err)
	}
}

// BenchmarkFirst is the first request, which builds the index.
func BenchmarkFirst(b *testing.B) {
	apps := append(realApps(b), distractorApps(487)...)
	for b.Loop() {
		s := search.New(search.Config{Apps: func() []*aai.App { return apps }})
		_, err := s.Find(b.Context(), aai.Caller{}, "set the volume", "")
		assert.NilError(b, err)
		assert.NilError(b, s.Close())
	}
}
