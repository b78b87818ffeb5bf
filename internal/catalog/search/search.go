package search

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/lexicon"
)

// Config configures a Search. Apps must be set.
type Config struct {
	// Apps returns the apps to search, as the catalog lists them.
	Apps func() []*aai.App
	// AgentTools names the builtin tools that results may contain; may be nil.
	AgentTools []string
	// Denied returns a predicate for the tools that the policy denies to a caller; may be nil.
	Denied func(aai.Caller) func(*aai.App, *aai.Tool) bool
	// UsageSince returns the usage of tools since a time; may be nil.
	UsageSince func(context.Context, time.Time) ([]Usage, error)
	// Favourites is the file of the most used apps, as last counted. Ratings is the file of the person's ratings. Either
	// may be missing; empty: none.
	Favourites, Ratings string
	Log                 *slog.Logger // nil: no log
}

// A Search finds tools of all apps for a request. It is safe for concurrent use.
type Search struct {
	config  Config
	index   index
	counter usageCounter
	ratings ratings
}

// New returns a Search. The first request builds the index.
func New(c Config) *Search {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	s := &Search{config: c, counter: usageCounter{uses: c.UsageSince, path: c.Favourites, log: c.Log},
		ratings: ratings{c.Ratings}}
	s.index.vocabulary = newVocabulary(defaultGlossary())
	s.index.agentTools = make(map[string]bool)
	for _, name := range c.AgentTools {
		s.index.agentTools[name] = true
	}
	return s
}

// Close cancels a running count of usage.
func (s *Search) Close() error {
	s.counter.stop()
	return nil
}

// Favourites returns the ids of the most used apps, as last counted, most used first. It only
// reads a small file, which searches update, so a client that connects causes no count and no
// write.
func (s *Search) Favourites() []string { return s.counter.loadFavourites() }

// Find returns the tools that match the request, best first. It omits tools that the policy denies to the caller. If
// app is not "", only tools of the app with that id match. The error is an *aai.Error.
func (s *Search) Find(ctx context.Context, caller aai.Caller, request, app string) ([]Found, error) {
	hits := s.index.find(s.config.Apps(), request, app)
	barred := s.deniedFor(caller)
	hits = slices.DeleteFunc(hits, func(h hit) bool { return barred(h.app, h.tool) })
	used, stars := s.counter.stats(ctx, firstCountWait), s.ratings.load()
	naming, isQuestion := newNameMatcher(request), lexicon.IsQuestion(request)
	for i, h := range hits {
		stranger := h.app.Site.Origin != "" && !used.hasSucceeded(h.app.ID)
		hits[i].named = naming.matchLevel(h.entry, !stranger)
		hits[i].score *= used.factor(h.app.ID, h.tool.Name) * ratingFactor(stars, h.app.ID, h.tool.Name)
		if stranger {
			hits[i].score *= unusedSiteFactor
		}
		if h.app.ID == aai.BuiltinApp || h.app.ID == aai.DesktopApp {
			hits[i].score *= ownToolFactor
		}
		if isQuestion && h.tool.Effect != aai.Reads {
			hits[i].score *= changeFactor
		}
		if h.tool.Effect == aai.Destroys {
			hits[i].score *= destroyFactor
		}
	}
	hits = rankHits(hits)
	found := make([]Found, len(hits))
	for i, h := range hits {
		found[i] = Found{App: h.app, Tool: h.tool, entry: h.entry}
	}
	return found, nil
}

// unusedSiteFactor reduces the rank of a web app that the person has never used: its descriptor
// was not reviewed by the person, unlike that of an installed app.
const unusedSiteFactor = 0.75

// ownToolFactor reduces the rank of the gateway's own tools: their words fit many requests a little.
const ownToolFactor = 0.85

// changeFactor reduces the rank of tools that change something if the request is a question.
const changeFactor = 0.7

// destroyFactor reduces the rank of tools that destroy: one that is meant fits the request's verb, and then ranks first.
const destroyFactor = 0.7

// MostUsed returns the used tools that can be called now, most used first. A caller gets only the tools that it used
// itself; a person at a terminal gets all.
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

// usageWait limits the time that MostUsed waits for a count.
const usageWait = 10 * time.Second

func (s *Search) deniedFor(caller aai.Caller) func(*aai.App, *aai.Tool) bool {
	if s.config.Denied == nil {
		return func(*aai.App, *aai.Tool) bool { return false }
	}
	return s.config.Denied(caller)
}

// A Found is a tool that Find or MostUsed returns, with its app.
type Found struct {
	App  *aai.App
	Tool *aai.Tool

	*entry
}
