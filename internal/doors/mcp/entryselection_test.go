package mcp_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
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
	for name, more := range map[string]change{"safe": func(*world) {}, "canonical": canonical} {
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

// TestTheListStays checks that a client's list is chosen at its first request: later favourites are for
// later clients. Changes of hidden apps cause no notification; changes of shown ones do.
func TestTheListStays(t *testing.T) {
	used := []string{"org.example.app007"}
	w := newWorld(t, manyApps(40), with(func(c *door.Config) { c.FavouriteApps = func() []string { return used } }))
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
	w := newWorld(t, manyApps(40), with(func(c *door.Config) { c.FavouriteApps = func() []string { return used } }))
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

// A memoryListCache is a ListCache in memory.
type memoryListCache struct {
	mu      sync.Mutex
	content []byte
}

func (m *memoryListCache) Load() []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.content
}

func (m *memoryListCache) Save(content []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.content = content
}

// withListCache sets the door's cache.
func withListCache(m *memoryListCache) change {
	return with(func(c *door.Config) { c.ListCache = m })
}

// withSlowScan blocks the catalog's first scan until look is closed.
func withSlowScan(look chan struct{}) change {
	return func(w *world) { w.catalog.look = look }
}

// TestListBeforeTheFirstScan checks that with many apps a client gets its list before any descriptor
// was read, and the rest after that.
func TestListBeforeTheFirstScan(t *testing.T) {
	m := &memoryListCache{}
	c := newWorld(t, manyApps(40, "org.example.app007"), withListCache(m)).dial(t).open("2025-11-25", `{}`)
	assert.Check(t, m.Load() == nil, "a start alone keeps something")
	first := c.toolNames()
	assert.Assert(t, is.Contains(string(m.Load()), "app007"), m.Load())
	assert.Assert(t, !strings.Contains(string(m.Load()), "app009"), "kept is %s", m.Load())
	look := make(chan struct{})
	c = newWorld(t, manyApps(40, "org.example.app007"), withListCache(m), withSlowScan(look)).dial(t).open("2025-11-25", `{}`)
	got := c.toolNames()
	assert.Check(t, slices.Equal(got, first), "before the first look the tools are %q, expected %q", got, first)
	close(look)
	c.awaitChanges("resources") // no list had it before
	var guide struct{ Content []struct{ Text string } }
	c.get("tools/call", `{"name":"app_org_example_app007"}`, &guide)
	assert.Assert(t, is.Len(guide.Content, 1), "%+v", guide)
	assert.Equal(t, guide.Content[0].Text, "# App 7", "%+v", guide)
	var resources struct{ Resources []struct{ URI string } }
	c.get("resources/list", `{}`, &resources)
	assert.Check(t, is.Len(resources.Resources, 40))
	got = c.toolNames()
	assert.Check(t, slices.Equal(got, first), "after it they are %q", got)
}

// TestCachedListIsOld checks that the client is notified of outdated entries after the scan, and that
// the next client does not see them.
func TestCachedListIsOld(t *testing.T) {
	old := func() *memoryListCache {
		m := &memoryListCache{}
		newWorld(t, manyApps(40, "org.example.app007"), withListCache(m)).dial(t).open("2025-11-25", `{}`).toolNames()
		return m
	}
	for name, now := range map[string]struct {
		change change
		want   []string
	}{
		"few":     {manyApps(3), []string{"aai_exec", "app_org_example_app000", "app_org_example_app001", "app_org_example_app002", "web_discover"}},
		"removed": {removes(manyApps(40, "org.example.app007"), 7), []string{"aai_exec", "aai_search", "web_discover"}},
	} {
		m, look := old(), make(chan struct{})
		c := newWorld(t, now.change, withListCache(m), withSlowScan(look)).dial(t).open("2025-11-25", `{}`)
		got := c.toolNames()
		assert.Check(t, is.Contains(got, "aai_search"), "%s: at first %q", name, got)
		close(look)
		c.awaitChanges("tools", "resources")
		got = c.toolNames()
		assert.Check(t, slices.Equal(got, now.want), "%s: the tools are %q, expected %q", name, got, now.want)
		assert.Check(t, !strings.Contains(string(m.Load()), "app007"), "%s: kept is %s", name, m.Load())
	}
}

func removes(change change, i int) change {
	return func(w *world) {
		change(w)
		id := fmt.Sprintf("org.example.app%03d", i)
		w.catalog.apps = slices.DeleteFunc(w.catalog.apps, func(a *aai.App) bool { return a.ID == id })
	}
}

// TestInvalidListCache checks that an invalid cache has no effect on the list.
func TestInvalidListCache(t *testing.T) {
	for _, content := range []string{"", "null", "[]", "{}", `{"version":"1.2.3","entries":[{"app":""}]}`, `{"version":"0","entries":[]}`, strings.Repeat("[", 1000)} {
		m := &memoryListCache{content: []byte(content)}
		c := newWorld(t, manyApps(3), withListCache(m)).dial(t).open("2025-11-25", `{}`)
		got := c.toolNames()
		assert.Check(t, is.Len(got, 5), "%q: the tools are %q", content, got)
	}
}
