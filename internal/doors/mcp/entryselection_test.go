package mcp_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	door "github.com/gybob/aai-gateway/internal/doors/mcp"
	"github.com/gybob/aai-gateway/internal/testkit/tokencount"
)

// manyApps adds so many apps, and a search that returns its arguments.
func manyApps(n int, favourites ...string) change {
	return func(w *world) {
		w.catalog.apps = w.catalog.apps[:1]
		for i := range n {
			w.catalog.apps = append(w.catalog.apps, w.app(fmt.Sprintf("org.example.app%03d", i), fmt.Sprintf("App %d", i), strings.Repeat("Does many things. ", 10)))
		}
		search := tool("search", aai.Reads, func(_ context.Context, call *aai.Call) (*aai.Result, error) {
			return &aai.Result{Text: fmt.Sprint("searched for ", call.Args["words"])}, nil
		})
		w.catalog.apps[0].Tools = append(w.catalog.apps[0].Tools, search)
		w.options = func(c *door.Config) {
			c.ListWebDiscovery, c.ListSearch, c.FavouriteApps = true, true, func() []string { return favourites }
		}
	}
}

// TestManyAppsFitTheTokenBudget checks that the list stays within the budget, and contains the search,
// aai_exec, web discovery and the person's favourites.
func TestManyAppsFitTheTokenBudget(t *testing.T) {
	for _, n := range []int{26, 300, 2000} {
		w := newWorld(t, manyApps(n, "org.example.app007", "org.example.gone", "org.example.app003", "org.example.app007"))
		c := w.dial(t).open("2025-11-25", `{}`)
		raw := c.ask("tools/list", `{}`).Result
		want := []string{"aai_exec", "aai_search", "app_org_example_app003", "app_org_example_app007", "web_discover"}
		got := c.toolNames()
		assert.Check(t, slices.Equal(got, want), "%d apps: the tools are %q, expected %q", n, got, want)
		tokens := tokencount.Count(t, string(raw))
		assert.Check(t, tokens <= budget, "%d apps: the list costs %d tokens; at most %d", n, tokens, budget)
	}
}

// TestFavouritesFitTheTokenBudget checks the same for many favourites and long descriptions.
func TestFavouritesFitTheTokenBudget(t *testing.T) {
	var all []string
	for i := range 100 {
		all = append(all, fmt.Sprintf("org.example.app%03d", i))
	}
	c := newWorld(t, manyApps(100, all...)).dial(t).open("2025-11-25", `{}`)
	raw := string(c.ask("tools/list", `{}`).Result)
	n, apps := tokencount.Count(t, raw), strings.Count(raw, `"app_org`)
	assert.Check(t, n <= budget, "%d tokens, %d apps", n, apps)
	assert.Check(t, apps >= 3, "%d tokens, %d apps", n, apps)
}

// TestFewAppsHaveEntries checks that few apps have an entry each, as long as those fit the budget.
func TestFewAppsHaveEntries(t *testing.T) {
	c := newWorld(t, manyApps(5)).dial(t).open("2025-11-25", `{}`)
	got := c.toolNames()
	assert.Assert(t, !slices.Contains(got, "aai_search"), "of five apps the tools are %q", got)
	assert.Assert(t, is.Len(got, 7))
	// 20 apps are fewer than 25, but too long.
	c = newWorld(t, manyApps(20)).dial(t).open("2025-11-25", `{}`)
	got = c.toolNames()
	assert.Check(t, slices.Equal(got, []string{"aai_exec", "aai_search", "web_discover"}), "of twenty long apps the tools are %q", got)
}

// TestSearchAndHiddenEntries checks that the search calls the gateway's own tool, by each of its names,
// and that an app without an entry can be called by its name.
func TestSearchAndHiddenEntries(t *testing.T) {
	for name, more := range map[string]change{"safe": func(*world) {}, "canonical": canonicalToo} {
		w := newWorld(t, manyApps(30), more)
		c := w.dial(t).open("2025-11-25", `{}`)
		for call, want := range map[string]string{
			`{"name":"aai_search","arguments":{"words":"trash"}}`: "searched for trash",
			`{"name":"aai:search","arguments":{"words":"trash"}}`: "searched for trash",
			`{"name":"app:org.example.app005"}`:                   "# App 5",
			`{"name":"app_org_example_app005"}`:                   "# App 5",
		} {
			if name == "canonical" && strings.Contains(call, "app_org") {
				continue // its wire name is resolved among listed names
			}
			var got struct{ Content []struct{ Text string } }
			c.get("tools/call", call, &got)
			assert.Assert(t, len(got.Content) != 0, "%s: %s gave %+v", name, call, got)
			assert.Assert(t, strings.HasPrefix(got.Content[0].Text, want), "%s: %s gave %+v", name, call, got)
		}
	}
}

func canonicalToo(w *world) {
	options := w.options
	w.options = func(c *door.Config) { options(c); c.UseCanonicalNames = true }
}

// TestTheListStays checks that a client's list is chosen at its first request: later favourites are for
// later clients. Changes of hidden apps cause no notification; changes of shown ones do.
func TestTheListStays(t *testing.T) {
	used := []string{"org.example.app007"}
	w := newWorld(t, manyApps(40), func(w *world) {
		options := w.options
		w.options = func(c *door.Config) { options(c); c.FavouriteApps = func() []string { return used } }
	})
	c := w.dial(t).open("2025-11-25", `{}`)
	first := c.toolNames()
	used = []string{"org.example.app009"}
	w.catalog.edit(func(apps []*aai.App) []*aai.App {
		return append(slices.Clone(apps), w.app("org.example.new", "New", "New."))
	})
	m := c.receive()
	assert.Check(t, is.Equal(m.Method, "notifications/resources/list_changed"), "of an app that it is not shown the client is told %s", m.Method)
	got := c.toolNames()
	assert.Check(t, slices.Equal(got, first), "the list was %q and is %q", first, got)
	w.catalog.edit(func(apps []*aai.App) []*aai.App {
		changed := slices.Clone(apps)
		i := slices.IndexFunc(changed, func(a *aai.App) bool { return a.ID == "org.example.app007" })
		changed[i] = w.app("org.example.app007", "Seven", "Is another now.")
		return changed
	})
	c.awaitChanges("tools", "resources")
	list := string(c.ask("tools/list", `{}`).Result)
	assert.Check(t, is.Contains(list, "【Seven】"), "the list has not what changed: %s", list)
}

// TestAListThatHasBecomeTooLong checks that a list that becomes too long is chosen again, and that the
// next session begins so.
func TestAListThatHasBecomeTooLong(t *testing.T) {
	w := newWorld(t, manyApps(3))
	c := w.dial(t).open("2025-11-25", `{}`)
	got := c.toolNames()
	assert.Assert(t, is.Len(got, 5), "the tools are %q", got)
	w.catalog.edit(func(apps []*aai.App) []*aai.App {
		for i := range 30 {
			apps = append(slices.Clone(apps), w.app(fmt.Sprintf("org.example.more%d", i), "More", "More."))
		}
		return apps
	})
	c.awaitChanges("tools", "resources")
	got = c.toolNames()
	assert.Check(t, slices.Equal(got, []string{"aai_exec", "aai_search", "web_discover"}), "the tools are %q", got)
}

// TestSessionsHaveListsOfTheirOwn checks that each session of a door has its own selection.
func TestSessionsHaveListsOfTheirOwn(t *testing.T) {
	used := []string{"org.example.app007"}
	w := newWorld(t, manyApps(40), func(w *world) {
		options := w.options
		w.options = func(c *door.Config) { options(c); c.FavouriteApps = func() []string { return used } }
	})
	s := w.serve(t)
	shown := func(client *mcp.ClientSession) string {
		list, err := client.ListTools(t.Context(), nil)
		assert.NilError(t, err)
		var said []string
		for _, tool := range list.Tools {
			said = append(said, tool.Name)
		}
		return strings.Join(said, " ")
	}
	one := s.connectHTTP(t, "2025-11-25", "", nil)
	assert.Check(t, is.Contains(shown(one), "app007"))
	used = []string{"org.example.app009"}
	two := s.connectHTTP(t, "2025-11-25", "", nil)
	got := shown(two)
	assert.Assert(t, is.Contains(got, "app009"))
	assert.Assert(t, !strings.Contains(got, "app007"), "the second has %q", got)
	got = shown(one)
	assert.Assert(t, is.Contains(got, "app007"))
	assert.Assert(t, !strings.Contains(got, "app009"), "the first has %q by now", got)
}
