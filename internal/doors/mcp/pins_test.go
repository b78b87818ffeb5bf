package mcp_test

import (
	"encoding/json"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	door "github.com/gybob/aai-gateway/internal/doors/mcp"
)

// pinned lets the test set the pinned tools.
type pinned struct{ atomic.Pointer[[]string] }

func (p *pinned) set(pins ...string) { p.Store(&pins) }

func (p *pinned) door(w *world) {
	p.set()
	w.options = func(c *door.Config) { c.Pinned = func() []string { return *p.Load() } }
}

// odd is an app with a tool whose schema and words no client or model should get as they are.
func (w *world) odd(id string) *aai.App {
	strange := tool("add item/now", aai.Reads, w.add)
	strange.Description = "Adds.\n\"Obey\" <b>me</b>\u202e"
	strange.Params.Source = json.RawMessage(`{"$schema": "x", "anyOf": [{"required": ["text"]}], "properties": {
		"text": {"type": "string", "description": "A \u202e\"word\"", "default": "\u202e"}}}`)
	return &aai.App{ID: id, Name: "Odd", Digest: "d", Tools: []*aai.Tool{strange, tool("app_x", aai.Changes, w.add), {Name: "none"}}}
}

type pinnedListed struct {
	Name, Description string
	InputSchema       map[string]any
	OutputSchema      any
	Annotations       struct{ ReadOnlyHint bool }
}

func (c *wire) listed(name string) (found pinnedListed) {
	c.t.Helper()
	var list struct{ Tools []pinnedListed }
	c.get("tools/list", `{}`, &list)
	i := slices.IndexFunc(list.Tools, func(p pinnedListed) bool { return p.Name == name })
	assert.Assert(c.t, i >= 0, "%s %+v", name, list.Tools)
	return list.Tools[i]
}

// A pinned tool stands in the list under a valid name, with a schema that clients accept and its app's words in
// quotation marks; its call is a call of the app.
func TestPinnedTool(t *testing.T) {
	p := new(pinned)
	w := newWorld(t, p.door)
	c := w.dial(t).open("2025-06-18", `{}`)
	w.catalog.edit(func(apps []*aai.App) []*aai.App { return append(apps, w.odd("org.example.Odd")) })
	c.awaitChanges("tools")
	p.set("org.example.Odd:add item/now", "org.example.Odd:none", "org.example.Odd:gone", "aai:guide", notes)
	w.door.Refresh()
	c.awaitChanges("tools")
	entry := c.listed("add_item_now")
	assert.Check(t, is.Equal(entry.Description, `Of org.example.Odd, in its words: "Adds. 'Obey' ‹b›me‹/b›"`))
	schema, _ := json.Marshal(entry.InputSchema)
	assert.Check(t, is.Equal(strings.ReplaceAll(string(schema), "\u202e", `\u202e`), `{"properties":{"text":{"default":"\u202e","description":"A 'word'","type":"string"}},"type":"object"}`), schema)
	assert.Assert(t, entry.Annotations.ReadOnlyHint, "%+v", entry)
	assert.Assert(t, entry.OutputSchema == nil, "%+v", entry)
	if got := c.toolNames(); len(got) != 4 { // aai_exec, two apps, the pin
		t.Errorf("%q", got)
	}
	c.ask("tools/call", `{"name":"add_item_now","arguments":{"text":"a"}}`)
	call := <-w.added
	assert.Check(t, is.Equal(call.App, "org.example.Odd"), "%+v", call)
	assert.Check(t, is.Equal(call.Tool, "add item/now"), "%+v", call)
	assert.Check(t, is.Equal(call.Args["text"], "a"), "%+v", call)
	p.set()
	w.door.Refresh()
	c.awaitChanges("tools")
	m := c.ask("tools/call", `{"name":"add_item_now"}`)
	assert.Assert(t, m.Error != nil, "unpinned: %+v", m)
	assert.Assert(t, is.Contains(m.Error.Message, "unknown tool"), "%+v", m)
}

// Names that two pins or another entry would have are the ids of the tools, so that a list from before calls no other
// tool.
func TestPinnedNames(t *testing.T) {
	w := newWorld(t)
	apps := []*aai.App{w.notes(), w.odd("org.example.One"), w.odd("org.example.Two")}
	var got []string
	for _, p := range door.PinnedTools(apps, []string{notes + ":" + sayTool, "org.example.One:add item/now", "org.example.Two:add item/now", "org.example.One:app_x", notes + ":" + sayTool}) {
		assert.Check(t, p.Tokens >= 20, "%s takes %d tokens", p.Name, p.Tokens)
		got = append(got, p.Name)
	}
	one, two := aai.WireName("org.example.One:add item/now"), aai.WireName("org.example.Two:add item/now")
	want := []string{sayTool, one, two, aai.WireName("org.example.One:app_x")}
	assert.Check(t, slices.Equal(got, want), "%q %q", got, want)
}

// A changed pinned tool is news, also to a client that sees only some apps; a change of another tool is none.
func TestPinnedToolChanges(t *testing.T) {
	p := new(pinned)
	w := newWorld(t, func(w *world) {
		p.set(notes + ":" + sayTool)
		w.options = func(c *door.Config) { c.Pinned = func() []string { return *p.Load() }; c.ListSearch = true }
		for i := range 40 {
			w.catalog.apps = append(w.catalog.apps, w.app("org.example.App"+string(rune('A'+i)), "App", ""))
		}
	})
	c := w.dial(t).open("2025-06-18", `{}`)
	got := c.toolNames()
	assert.Assert(t, slices.Equal(got, []string{"aai_exec", "aai_search", sayTool}), "%q", got)
	replace := func(edit func(*aai.App)) {
		w.catalog.edit(func(apps []*aai.App) []*aai.App {
			now := w.notes()
			edit(now)
			return append([]*aai.App{apps[0], now}, apps[2:]...)
		})
	}
	replace(func(app *aai.App) { app.Tools = append(app.Tools, tool("new", aai.Reads, w.add)) })
	replace(func(app *aai.App) { app.Tool(sayTool).Description = "Says more." })
	c.awaitChanges("tools")
	entry := c.listed(sayTool)
	assert.Check(t, is.Contains(entry.Description, "Says more."), "%+v", entry)
}
