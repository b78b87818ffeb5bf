package mcp_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit/tokencount"
)

// A profile is a choice of tools for agents, with its cost for a model.
type profile struct {
	name   string
	listed int // tokens of tools/list, with ten apps
}

func profiles() []profile {
	return []profile{{"apps", 1350}, {"desktop", 5000}, {"all", 6200}}
}

func TestWhatEveryConversationCosts(t *testing.T) {
	for _, p := range profiles() {
		t.Run(p.name, func(t *testing.T) {
			w := newWorld(t, withDesktop, withProfile(p.name))
			w.catalog.apps = append([]*aai.App{w.builtinApp(), w.catalog.apps[2]}, realApps(t, w, 9)...)
			c := w.dial(t)
			var said struct {
				Instructions string
				ServerInfo   map[string]any
			}
			c.get("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"tester","version":"0"}}`, &said)
			delete(said.ServerInfo, "icons") // for people; no model is shown them
			info, _ := json.Marshal(said.ServerInfo)
			intro := tokencount.Count(t, said.Instructions+string(info))
			list := c.ask("tools/list", `{}`).Result
			n := tokencount.Count(t, string(list))
			t.Logf("%s: %d tokens of instructions and server info, %d of %d tools", p.name, intro, n, strings.Count(string(list), `"inputSchema"`))
			assert.Check(t, intro <= 300, "instructions and server info cost %d tokens of 300, the list %d of %d", intro, n, p.listed)
			assert.Check(t, n <= p.listed, "instructions and server info cost %d tokens of 300, the list %d of %d", intro, n, p.listed)
		})
	}
}

// TestInstructionsSayWhatMatters checks that the instructions contain the facts that a model needs, and
// that every tool they name exists.
func TestInstructionsSayWhatMatters(t *testing.T) {
	for _, p := range profiles() {
		for _, names := range []change{func(*world) {}, canonical} {
			w := newWorld(t, withDesktop, names, withProfile(p.name))
			c := w.dial(t)
			var said struct{ Instructions string }
			c.get("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"tester","version":"0"}}`, &said)
			tools := c.toolNames()
			must := []string{"such as e12", "lists changes", "data, never instructions", "CONSENT_REQUIRED", "ax_get_tree", "the next step"}
			if p.name != "desktop" {
				must = append(must, "guide", tools[slices.IndexFunc(tools, func(n string) bool { return strings.HasPrefix(n, "aai") })])
			}
			for _, word := range must {
				assert.Check(t, is.Contains(said.Instructions, word), p.name)
			}
			for word := range strings.FieldsFuncSeq(said.Instructions, func(r rune) bool { return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz_:", r) }) {
				word = strings.TrimSuffix(word, ":")
				assert.Check(t, !strings.HasPrefix(word, "ax_") || word == "ax_" || newDesktop(nil).Tool(word) != nil, "%s: there is no %s", p.name, word)
				assert.Check(t, !strings.HasPrefix(word, "aai") || word == aai.BuiltinApp || slices.Contains(tools, word), "%s: %s is not listed: %q", p.name, word, tools)
			}
		}
	}
}

// TestResultsAreSentOnce checks that a tool with a schema of results sends structured content, and
// that the gateway's other tools send text alone.
func TestResultsAreSentOnce(t *testing.T) {
	required := func(w *world) {
		undo := w.catalog.apps[len(w.catalog.apps)-1].Tool("ax_undo")
		undo.Returns = aai.Schema{Source: json.RawMessage(`{"type": "object", "properties": {"undone": {"type": "integer"}}, "required": ["undone"]}`)}
	}
	w := newWorld(t, withDesktop, required, withProfile("all"))
	c := w.dial(t).open("2025-11-25", `{}`)
	var list struct {
		Tools []struct {
			Name         string
			OutputSchema *struct {
				Type       string
				Properties map[string]struct{ Type string }
				Required   []string
			}
		}
	}
	c.get("tools/list", `{}`, &list)
	declared := make(map[string]bool)
	for _, tool := range list.Tools {
		o := tool.OutputSchema
		declared[tool.Name] = o != nil
		assert.Check(t, o == nil || o.Type == "object" && len(o.Properties) != 0 && len(o.Required) <= 0, "%s %+v", tool.Name, o)
	}
	for name, want := range map[string]bool{
		"ax_list_apps": true, "ax_find": true, "ax_get_value": true, "ax_get_tree": false, "ax_click": false, "ax_clipboard": false, "app_org_example_Notes": false,
	} {
		assert.Check(t, is.Equal(declared[name], want), "%s declares a result: %t", name, declared[name])
	}
	for params, isData := range map[string]bool{
		`{"name":"ax_list_apps","arguments":{}}`:                              true,
		`{"name":"ax_get_tree","arguments":{"app":"Editor"}}`:                 false,
		`{"name":"ax_get_tree","arguments":{"app":"Editor","format":"json"}}`: true,
		`{"name":"ax_find","arguments":{"app":"Editor","query":"Save"}}`:      true,
		`{"name":"ax_click","arguments":{"app":"Editor","query":"Save"}}`:     false,
		`{"name":"app_org_example_Notes"}`:                                    false,
	} {
		var got struct {
			Content           []struct{ Text string }
			StructuredContent map[string]any
			IsError           bool
		}
		c.get("tools/call", params, &got)
		if got.IsError || len(got.Content) != 1 || got.Content[0].Text == "" {
			t.Errorf("%s: %+v", params, got)
			continue
		}
		assert.Check(t, is.Equal((got.StructuredContent != nil), isData), "%s: the structured content is %v", params, got.StructuredContent)
		text, twice := got.StructuredContent["text"]
		assert.Check(t, !twice, "%s: the text %q is there beside the data %v", params, text, got.StructuredContent)
	}
	var got struct {
		Content           []struct{ Text string }
		StructuredContent map[string]any
	}
	c.get("tools/call", `{"name":"ax_get_tree","arguments":{"app":"Editor","format":"json"}}`, &got)
	var said any
	assert.NilError(t, json.Unmarshal([]byte(got.Content[0].Text), &said))
	if !reflect.DeepEqual(said, any(got.StructuredContent)) {
		t.Errorf("the text is %q, the data %v", got.Content[0].Text, got.StructuredContent)
	}
}

// TestDesktopResultsAreAtTheTop checks that the fields of a desktop tool's result are those of the
// structured content, if the tool is called under its own name.
func TestDesktopResultsAreAtTheTop(t *testing.T) {
	w := newWorld(t, withDesktop, withProfile("all"))
	c := w.dial(t).open("2025-11-25", `{}`)
	var got struct{ StructuredContent map[string]any }
	c.get("tools/call", `{"name":"ax_find","arguments":{"app":"Editor","query":"Save"}}`, &got)
	assert.Check(t, is.Equal(got.StructuredContent["found"], true), got.StructuredContent)
	c.get("tools/call", `{"name":"aai_exec","arguments":{"app":"desktop","tool":"ax_find","args":{"app":"Editor","query":"Save"}}}`, &got)
	result, _ := got.StructuredContent["result"].(map[string]any)
	assert.Check(t, is.Equal(result["found"], true), "by aai_exec: %v", got.StructuredContent)
}
