package search

import (
	"context"
	"slices"

	"aai"
)

// Config says what a Search stands on. Apps must be set.
type Config struct {
	// Apps are those that can be found, as the catalog lists them.
	Apps func() []*aai.App
	// Open names the tools of the gateway's own app that are offered; nil: none.
	Open []string
	// Barred says of a caller which tools are not theirs to call, whatever they do; nil: none
	// is barred.
	Barred func(aai.Caller) func(*aai.App, *aai.Tool) bool
}

// A Search finds tools. It is safe for concurrent use.
type Search struct {
	config Config
	index  index
}

// New returns a search that has looked at nothing.
func New(c Config) *Search {
	s := &Search{config: c}
	s.index.glossary = newGlossary(glossaryText)
	s.index.open = make(map[string]bool)
	for _, name := range c.Open {
		s.index.open[name] = true
	}
	return s
}

// Close ends the search.
func (s *Search) Close() error {
	s.index.close()
	return nil
}

// How many tools are looked at for an answer.
const maxFound = 100

// Find returns the tools that fit the request, the best first, without those that the caller
// may not call. Only of the app with that id, if one is given.
func (s *Search) Find(ctx context.Context, caller aai.Caller, request, app string) ([]Found, error) {
	hits, err := s.index.find(ctx, s.config.Apps(), request, maxFound)
	if err != nil {
		return nil, aai.Errorf(aai.AutomationFailed, "the tools cannot be searched: %w", err)
	}
	barred := func(*aai.App, *aai.Tool) bool { return false }
	if s.config.Barred != nil {
		barred = s.config.Barred(caller)
	}
	hits = slices.DeleteFunc(hits, func(h hit) bool { return app != "" && h.app.ID != app || barred(h.app, h.tool) })
	hits = inOrder(hits)
	found := make([]Found, len(hits))
	for i, h := range hits {
		found[i] = Found{App: h.app, Tool: h.tool, entry: h.entry}
	}
	return found, nil
}

// A Found is a tool that fits.
type Found struct {
	App  *aai.App
	Tool *aai.Tool

	*entry
}
