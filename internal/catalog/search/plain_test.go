package search_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/catalog/search"
)

// firstThree is the number of results that must contain the expected tool for a request in plain words.
const firstThree = 3

// TestPlainRequests checks requests that were written from the purpose of the apps alone, before their descriptors were
// read. Only those of development.txt may guide a change of the ranking. The aim is 23 of 30.
// Of the 60 requests nine share no word and no concept of the glossary with their tool.
func TestPlainRequests(t *testing.T) {
	apps := plainApps(t)
	s := newSearchWithOwn(t, &apps)
	for file, least := range map[string]int{"development.txt": 15, "heldout.txt": 15} {
		right := 0
		all := searchCasesIn(t, filepath.Join("plain", file))
		for _, c := range all {
			for name := range c.tools {
				id, tool, _ := strings.Cut(name, ":")
				assert.Assert(t, has(apps, id, tool), "%s: there is no %s", c.words, name)
			}
			found := find(t, s, agent(), c.words, "")
			first := found[:min(len(found), firstThree)]
			if slices.ContainsFunc(first, func(name string) bool { return c.tools[name] }) {
				right++
				continue
			}
			t.Logf("not found: %s: %q", c.words, first)
		}
		t.Logf("%s: %d of %d", file, right, len(all))
		assert.Check(t, right >= least, "%s %d %d %d", file, right, len(all), least)
	}
}

// newSearchWithOwn returns a search in all of the gateway's own tools that agents have.
func newSearchWithOwn(t *testing.T, apps *[]*aai.App) *search.Search {
	t.Helper()
	var own []string
	for _, app := range *apps {
		if app.ID == aai.BuiltinApp {
			for _, tool := range app.Tools {
				own = append(own, tool.Name)
			}
		}
	}
	return newSearch(t, apps, func(c *search.Config) { c.AgentTools = own })
}

// plainApps returns all shipped apps, a part of twelve public web APIs and the gateway's own apps.
func plainApps(t *testing.T) []*aai.App {
	t.Helper()
	return slices.Concat(shippedApps(t), webApps(t), ownApps(t))
}

// webApps reads web-tools.tsv. A line is an app: id, "", "", name, description; or a tool: id, name,
// effect, parameters, description.
func webApps(t *testing.T) (apps []*aai.App) {
	t.Helper()
	for _, line := range readLines(t, "testdata/plain/web-tools.tsv") {
		p := strings.Split(line, "\t")
		assert.Assert(t, is.Len(p, 5), "%q", line)
		if p[1] == "" {
			apps = append(apps, named(p[0], p[3], p[4]))
			continue
		}
		app, one := apps[len(apps)-1], tool(p[1], p[4])
		one.Effect, one.Params.Order = effects[p[2]], strings.Fields(p[3])
		app.Tools = append(app.Tools, one)
	}
	return apps
}

// ownApps reads the gateway's own apps, with the tools that agents have, from the reference of tools.
func ownApps(t *testing.T) (apps []*aai.App) {
	t.Helper()
	var last *aai.Tool
	lines := readLines(t, "../../../docs/reference/tools.md")
	for i, line := range lines {
		name, isTool := strings.CutPrefix(line, "### ")
		switch id, isApp := strings.CutPrefix(line, "## "); {
		case isApp:
			apps = append(apps, named(id, map[string]string{aai.BuiltinApp: "AAI Gateway", aai.DesktopApp: "Desktop"}[id], lines[i+2]))
		case isTool && strings.HasSuffix(name, " +"):
			last = tool(strings.TrimSuffix(name, " +"), lines[i+2])
			if !strings.HasSuffix(last.Description, " It reads.") {
				last.Effect = aai.Changes
			}
			apps[len(apps)-1].Tools = append(apps[len(apps)-1].Tools, last)
		case isTool:
			last = nil
		case strings.HasPrefix(line, "| `") && last != nil:
			last.Params.Order = append(last.Params.Order, strings.Split(line, "`")[1])
		}
	}
	return apps
}

// effects are the effects by their words.
var effects = map[string]aai.Effect{"reads": aai.Reads, "changes": aai.Changes, "destroys": aai.Destroys}

func readLines(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	assert.NilError(t, err)
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}
