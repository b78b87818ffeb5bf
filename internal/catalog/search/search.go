package search

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
)

// Config says what a Search stands on. Apps must be set.
type Config struct {
	// Apps are those that can be found, as the catalog lists them.
	Apps func() []*aai.App
	// AgentTools names the tools of the gateway's own app that are offered; nil: none.
	AgentTools []string
	// Denied says of a caller which tools are not theirs to call, whatever they do; nil: none
	// is barred.
	Denied func(aai.Caller) func(*aai.App, *aai.Tool) bool
	// UsageSince says how often tools were called since a time; nil: nobody counts.
	UsageSince func(context.Context, time.Time) ([]Usage, error)
	// Favourites and Ratings are files of the person, which may be absent or lost: the apps
	// that they use most, as counted last, and what they think of apps. "": there is none.
	Favourites, Ratings string
	Log                 *slog.Logger // nil: nowhere
}

// A Search finds tools. It is safe for concurrent use.
type Search struct {
	config  Config
	index   index
	counter usageCounter
	ratings ratings
}

// New returns a search that has looked at nothing.
func New(c Config) *Search {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	s := &Search{config: c, counter: usageCounter{uses: c.UsageSince, path: c.Favourites, log: c.Log}, ratings: ratings{c.Ratings}}
	s.index.glossary = defaultGlossary()
	s.index.agentTools = make(map[string]bool)
	for _, name := range c.AgentTools {
		s.index.agentTools[name] = true
	}
	return s
}

// Close ends the search, and a count of use that runs.
func (s *Search) Close() error {
	s.counter.stop()
	s.index.close()
	return nil
}

// How many tools are looked at for an answer.
const maxFound = 100

// Favourites are the ids of the apps that the person uses most, as counted last, the most
// used first. It reads a small file, which searches bring up to date: nothing is counted, nor
// written, because a client has come.
func (s *Search) Favourites() []string { return s.counter.loadFavourites() }

// Find returns the tools that fit the request, the best first, without those that the caller
// may not call. Only of the app with that id, if one is given.
func (s *Search) Find(ctx context.Context, caller aai.Caller, request, app string) ([]Found, error) {
	hits, err := s.index.find(ctx, s.config.Apps(), request, app, maxFound)
	if err != nil {
		return nil, aai.Errorf(aai.AutomationFailed, "the tools cannot be searched: %w", err)
	}
	barred := s.deniedFor(caller)
	hits = slices.DeleteFunc(hits, func(h hit) bool { return barred(h.app, h.tool) })
	used, stars := s.counter.stats(ctx, firstCountWait), s.ratings.load()
	naming := newNameMatcher(request)
	for i, h := range hits {
		stranger := h.app.Origin != "" && !used.hasSucceeded(h.app.ID)
		hits[i].named = naming.matchLevel(h.entry, !stranger)
		hits[i].score *= used.factor(h.app.ID, h.tool.Name) * ratingFactor(stars, h.app.ID, h.tool.Name)
		if stranger {
			hits[i].score *= unusedSiteFactor
		}
	}
	hits = rankHits(hits)
	found := make([]Found, len(hits))
	for i, h := range hits {
		found[i] = Found{App: h.app, Tool: h.tool, entry: h.entry}
	}
	return found, nil
}

// unusedSiteFactor is what is left of the rank of a tool of a site, as long as the person never used
// the app: what a site says of itself nobody looked through, as they did what is on their
// computer.
const unusedSiteFactor = 0.75

// MostUsed returns the tools that were used and can be called now, those used most first: of an
// agent those that it used itself, at the person's doors all.
func (s *Search) MostUsed(ctx context.Context, caller aai.Caller) []Found {
	known := s.counter.stats(ctx, usageWait)
	if known == nil {
		return nil
	}
	apps := make(map[string]*aai.App)
	for _, app := range s.config.Apps() {
		apps[app.ID] = app
	}
	barred := s.deniedFor(caller)
	var found []Found
	for _, name := range known.toolsOfCallers(callerFilter(caller)) {
		id, tool, _ := strings.Cut(name, ":")
		if site, rest, web := strings.Cut(name, "/"); web { // the host may have a port
			app, its, _ := strings.Cut(rest, ":")
			id, tool = site+"/"+app, its
		}
		app := apps[id]
		if app == nil {
			continue
		}
		if t := app.Tool(tool); t != nil && t.Run != nil && !barred(app, t) {
			found = append(found, Found{App: app, Tool: t, entry: &entry{app: app, tool: t}})
		}
	}
	return found
}

// usageWait is how long who asks for what was used waits for a count.
const usageWait = 10 * time.Second

func (s *Search) deniedFor(caller aai.Caller) func(*aai.App, *aai.Tool) bool {
	if s.config.Denied == nil {
		return func(*aai.App, *aai.Tool) bool { return false }
	}
	return s.config.Denied(caller)
}

// A Found is a tool that fits.
type Found struct {
	App  *aai.App
	Tool *aai.Tool

	*entry
}
