package web

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
)

// appPage shows one app and its tools.
func appPage() page { return page{name: "app", path: "/app", show: showApp} }

// An operation is a tool in the guide, with its statistics.
type operation struct {
	answer.Operation
	Used answer.ToolStats
}

// A guide is the answer of the tool "guide" about an app.
type guide = answer.Guide[operation]

// appPageData is the data of an app's page.
type appPageData struct {
	guide
	Name, Icon, Initial string
	Source              string
	Lintable            bool
	Calls, Failures     int
	Query               string
	Groups              []toolGroup
	More                int // tools that are not shown
}

// A toolGroup holds the tools of one part of an app; the part without a name is first.
type toolGroup struct {
	Name  string
	Tools []operation
}

// toolsLimit limits the tools on one page.
const toolsLimit = 200

// Subject returns the app's name for the page's title.
func (s appPageData) Subject() string { return s.Name }

func showApp(v *pageRequest) (any, error) {
	shown := appPageData{Query: v.search()}
	id := v.query.Get("app")
	if err := v.read("guide", map[string]any{"app": id}, &shown.guide); err != nil {
		return nil, err
	}
	id = shown.App.ID
	shown.Name = nameIn(v.lang, strings.Join(shown.App.Names, "|"), id)
	shown.Initial, shown.Icon = firstLetter(shown.Name), v.icons([]string{id})[id]
	v.addUsage(&shown)
	if source, err := v.sourceOf(id); err == nil {
		shown.Source, shown.Lintable = source, lintable(source)
	}
	shown.group()
	return shown, nil
}

// sourceOf returns the place of an app's descriptor.
func (v *pageRequest) sourceOf(id string) (string, error) {
	all, err := v.apps()
	if err != nil {
		return "", err
	}
	for _, app := range all {
		if app.ID == id {
			return app.Source, nil
		}
	}
	return "", nil // of the gateway itself
}

// lintable reports whether a source is a file that lint can read.
func lintable(source string) bool {
	return filepath.IsAbs(source) && strings.HasSuffix(source, ".json") || strings.HasPrefix(source, "https://")
}

// addUsage adds the counts of calls of each tool; on an error it adds none.
func (v *pageRequest) addUsage(shown *appPageData) {
	var counted answer.Stats[answer.ToolStats]
	if v.read("stats", map[string]any{"app": shown.App.ID, "by": "tool"}, &counted) != nil {
		return
	}
	shown.Calls, shown.Failures = counted.Calls, counted.Failures
	byTool := make(map[string]answer.ToolStats, len(counted.Rows))
	for _, row := range counted.Rows {
		byTool[row.Tool] = row
	}
	for i := range shown.Operations {
		shown.Operations[i].Used = byTool[shown.Operations[i].Name]
	}
}

// group puts the tools that match the query in their groups.
func (s *appPageData) group() {
	count := 0
	for _, tool := range s.Operations {
		about := strings.ToLower(strings.Join([]string{tool.Name, tool.Title, tool.Group, tool.Description}, "\n"))
		if !containsAll(about, s.Query) {
			continue
		}
		if count++; count > toolsLimit {
			s.More++
			continue
		}
		i := slices.IndexFunc(s.Groups, func(g toolGroup) bool { return g.Name == tool.Group })
		if i < 0 {
			i = len(s.Groups)
			s.Groups = append(s.Groups, toolGroup{Name: tool.Group})
		}
		s.Groups[i].Tools = append(s.Groups[i].Tools, tool)
	}
	slices.SortStableFunc(s.Groups, func(a, b toolGroup) int { return strings.Compare(a.Name, b.Name) })
}

// lintPage shows the faults of a descriptor for its author.
func lintPage() page { return page{name: "lint", path: "/lint", show: showLint} }

// lintPageData is the template data of lintPage.
type lintPageData struct {
	answer.LintReport
	ID, Source string
}

// Subject returns the id of the descriptor's app for the page's title.
func (s lintPageData) Subject() string { return s.ID }

func showLint(v *pageRequest) (any, error) {
	var shown lintPageData
	source, err := v.sourceOf(v.query.Get("app"))
	if err != nil {
		return nil, err
	}
	if !lintable(source) {
		return nil, aai.Errorf(aai.AppNotFound, "there is no descriptor of %s to show", aai.CleanLabel(v.query.Get("app"), 100))
	}
	if err := v.read("lint", map[string]any{"source": source}, &shown.LintReport); err != nil {
		return nil, err
	}
	shown.ID, shown.Source = v.query.Get("app"), source
	return shown, nil
}

// integrationsPage lists the integrations of the apps of this computer.
func integrationsPage() page { return page{name: "found", path: "/found", show: showIntegrations} }

func showIntegrations(v *pageRequest) (any, error) {
	var shown struct {
		answer.IntegrationReport
		Query string
		More  int
	}
	if err := v.read("discover", nil, &shown.IntegrationReport); err != nil {
		return nil, err
	}
	shown.Query = v.search()
	shown.Integrations = slices.DeleteFunc(shown.Integrations, func(w answer.Integration) bool {
		return shown.Query != "" && !containsAll(strings.ToLower(strings.Join([]string{
			w.App, w.Kind, w.State, w.Benefit, w.CoveredBy, v.text("found", "state."+w.State), string(v.door.translations[v.lang].translate(w.Benefit)),
		}, "\n")), shown.Query)
	})
	if shown.More = max(0, len(shown.Integrations)-toolsLimit); shown.More > 0 {
		shown.Integrations = shown.Integrations[:toolsLimit]
	}
	return shown, nil
}

// containsAll reports whether a text in lower case contains all words of a query.
func containsAll(about, query string) bool {
	for word := range strings.FieldsSeq(strings.ToLower(query)) {
		if !strings.Contains(about, word) {
			return false
		}
	}
	return true
}
