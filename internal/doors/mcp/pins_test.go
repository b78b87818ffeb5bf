package mcp_test

import (
	"encoding/json"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

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
	if i < 0 {
		c.t.Fatalf("%s is not in %+v", name, list.Tools)
	}
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
	if want := `Of org.example.Odd, in its words: "Adds. 'Obey' ‹b›me‹/b›"`; entry.Description != want {
		t.Errorf("got %s\nwant %s", entry.Description, want)
	}
	schema, _ := json.Marshal(entry.InputSchema)
	if want := `{"properties":{"text":{"default":"\u202e","description":"A 'word'","type":"string"}},"type":"object"}`; strings.ReplaceAll(string(schema), "\u202e", `\u202e`) != want {
		t.Errorf("got %s\nwant %s", schema, want)
	}
	if !entry.Annotations.ReadOnlyHint || entry.OutputSchema != nil {
		t.Errorf("%+v", entry)
	}
	if got := c.toolNames(); len(got) != 4 { // aai_exec, two apps, the pin
		t.Errorf("%q", got)
	}
	c.ask("tools/call", `{"name":"add_item_now","arguments":{"text":"a"}}`)
	if call := <-w.added; call.App != "org.example.Odd" || call.Tool != "add item/now" || call.Args["text"] != "a" {
		t.Errorf("%+v", call)
	}
	p.set()
	w.door.Refresh()
	c.awaitChanges("tools")
	if m := c.ask("tools/call", `{"name":"add_item_now"}`); m.Error == nil || !strings.Contains(m.Error.Message, "unknown tool") {
		t.Errorf("unpinned: %+v", m)
	}
}

// Names that two pins or another entry would have are the ids of the tools, so that a list from before calls no other
// tool.
func TestPinnedNames(t *testing.T) {
	w := newWorld(t)
	apps := []*aai.App{w.notes(), w.odd("org.example.One"), w.odd("org.example.Two")}
	var got []string
	for _, p := range door.PinnedTools(apps, []string{notes + ":" + sayTool, "org.example.One:add item/now", "org.example.Two:add item/now", "org.example.One:app_x", notes + ":" + sayTool}) {
		if p.Tokens < 20 {
			t.Errorf("%s takes %d tokens", p.Name, p.Tokens)
		}
		got = append(got, p.Name)
	}
	one, two := aai.WireName("org.example.One:add item/now"), aai.WireName("org.example.Two:add item/now")
	if want := []string{sayTool, one, two, aai.WireName("org.example.One:app_x")}; !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
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
	if got := c.toolNames(); !slices.Equal(got, []string{"aai_exec", "aai_search", sayTool}) {
		t.Fatalf("%q", got)
	}
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
	if entry := c.listed(sayTool); !strings.Contains(entry.Description, "Says more.") {
		t.Errorf("%+v", entry)
	}
}
