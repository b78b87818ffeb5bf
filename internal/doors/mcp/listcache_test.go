package mcp_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	door "github.com/gybob/aai-gateway/internal/doors/mcp"
)

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
	return func(w *world) {
		options := w.options
		w.options = func(c *door.Config) { options(c); c.ListCache = m }
	}
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
