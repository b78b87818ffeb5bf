package search

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/catalog"
)

// An entry is a tool in the index.
type entry struct {
	app   *aai.App
	tool  *aai.Tool
	face  termWeights
	name  string // the tool's name as words
	once  sync.Once
	brief catalog.Brief
}

// toolBrief returns the short description of the tool.
func (e *entry) toolBrief() catalog.Brief {
	e.once.Do(func() { e.brief = catalog.NewBrief(e.app, e.tool) })
	return e.brief
}

// An index scores all tools for a request. It is safe for concurrent use.
type index struct {
	agentTools map[string]bool // listed tools of the builtin app
	vocabulary *vocabulary

	mu    sync.Mutex
	byApp map[string]*indexedApp // by the app's id
}

// indexedApp is an app in the index, with its tools.
type indexedApp struct {
	app   *aai.App
	tools []*entry
}

// A hit is a matching tool with its score: higher is better.
type hit struct {
	*entry
	score float64
	named int // the names that the request contains
}

// compareHits orders hits by their score, and equal ones by their names.
func compareHits(a, b hit) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.app.ID, b.app.ID), cmp.Compare(a.tool.Name, b.tool.Name))
}

// Limits on the tools that find returns: of one app, if all are searched, so that an app with very many tools
// leaves room for others; and of all.
const (
	maxOfApp = 30
	maxFound = 100
)

// find returns the tools that match any of the words, and those that the request names, best first; only of
// the app with that id, if given.
func (x *index) find(apps []*aai.App, text, app string) []hit {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.sync(apps)
	asked, naming := x.vocabulary.parseRequest(text), newNameMatcher(text)
	var named, found []hit
	for _, one := range apps {
		if app != "" && app != one.ID {
			continue
		}
		its := make([]hit, 0, maxOfApp)
		for _, e := range x.byApp[one.ID].tools {
			h := hit{entry: e, score: asked.score(e.face)}
			if len(named) < maxOfApp && naming.matches(e.tool.Name, e.name, true) {
				named = append(named, h)
			} else if h.score > 0 {
				its = append(its, h)
			}
		}
		if app == "" {
			its = best(its, maxOfApp)
		}
		found = append(found, its...)
	}
	return append(named, best(found, maxFound)...)
}

// best returns the first hits, in order.
func best(hits []hit, most int) []hit {
	if len(hits) <= most {
		return hits
	}
	slices.SortFunc(hits, compareHits)
	return hits[:most]
}

// sync updates the index for the apps; unchanged apps stay.
func (x *index) sync(apps []*aai.App) {
	now, changed := make(map[string]*indexedApp, len(apps)), len(apps) != len(x.byApp)
	for _, app := range apps {
		indexed := x.byApp[app.ID]
		if indexed == nil || !sameApp(indexed.app, app) {
			indexed, changed = x.indexApp(app), true
		}
		now[app.ID] = indexed
	}
	if !changed {
		return
	}
	x.byApp = now
	x.vocabulary.resetCounts()
	for _, of := range now {
		for _, e := range of.tools[:min(len(of.tools), maxCounted)] {
			x.vocabulary.count(e.face)
		}
	}
}

// sameApp reports whether two versions of an app have the same tools. Published tools are
// immutable.
func sameApp(a, b *aai.App) bool {
	return a == b || a.Name == b.Name && a.Description == b.Description && slices.Equal(a.Aliases, b.Aliases) &&
		slices.Equal(a.Tools, b.Tools)
}

// indexApp returns the entries of the app's tools that can be found.
func (x *index) indexApp(app *aai.App) *indexedApp {
	now, whole := &indexedApp{app: app}, x.vocabulary.appWeights(app)
	for _, tool := range app.Tools {
		if tool.Run == nil || app.ID == aai.BuiltinApp && !x.agentTools[tool.Name] {
			continue
		}
		now.tools = append(now.tools, &entry{app: app, tool: tool, face: x.vocabulary.toolWeights(whole, tool),
			name: spacedWords(tool.Name)})
	}
	return now
}

// maxCounted limits the tools of an app that count for term frequencies, so that an app with very
// many tools cannot make the terms of others common.
const maxCounted = 30

// maxAliases limits the aliases of an app that count.
const maxAliases = 10

// appNames returns the texts that name an app: its name, aliases and id.
func appNames(app *aai.App) []string {
	texts := []string{app.Name, " ", strings.Join(app.Aliases[:min(len(app.Aliases), maxAliases)], " "), " "}
	parts := strings.Split(app.ID, ".")
	if len(parts) > 2 {
		parts = parts[2:] // the parts before name the vendor
	}
	return append(texts, strings.Join(parts, " "))
}
