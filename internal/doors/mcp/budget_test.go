package mcp_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gui"
	"github.com/gybob/aai-gateway/internal/testkit/tokencount"
)

// A profile is a choice of tools for agents, with its cost for a model.
type profile struct {
	name   string
	listed int // tokens of tools/list, with ten apps
}

func profiles() []profile {
	return []profile{{"apps", 1500}, {"desktop", 6300}, {"all", 7700}}
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
			if intro > 300 || n > p.listed {
				t.Errorf("instructions and server info cost %d tokens of 300, the list %d of %d", intro, n, p.listed)
			}
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
				if !strings.Contains(said.Instructions, word) {
					t.Errorf("%s: no word of %q: %s", p.name, word, said.Instructions)
				}
			}
			for word := range strings.FieldsFuncSeq(said.Instructions, func(r rune) bool { return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz_:", r) }) {
				word = strings.TrimSuffix(word, ":")
				if strings.HasPrefix(word, "ax_") && word != "ax_" && gui.New(gui.Config{}).Tool(word) == nil {
					t.Errorf("%s: there is no %s", p.name, word)
				}
				if strings.HasPrefix(word, "aai") && word != aai.BuiltinApp && !slices.Contains(tools, word) {
					t.Errorf("%s: %s is not listed: %q", p.name, word, tools)
				}
			}
		}
	}
}

// TestStructuredOutput checks that every tool with a fixed result has an output schema, and that its
// results match, failures too: some clients validate those.
func TestStructuredOutput(t *testing.T) {
	w := newWorld(t, withDesktop, withProfile("all"))
	c := w.dial(t).open("2025-11-25", `{}`)
	var list struct {
		Tools []struct {
			Name         string
			OutputSchema struct {
				Type       string
				Properties map[string]struct{ Type string }
				Required   []string
			}
		}
	}
	c.get("tools/list", `{}`, &list)
	for _, tool := range list.Tools {
		o := tool.OutputSchema
		if tool.Name == "aai_exec" {
			continue // the schema of the app's tool
		}
		if o.Type != "object" || o.Properties["result"].Type == "" || len(o.Required) > 0 {
			t.Errorf("%s: %+v", tool.Name, o)
		}
	}
	for params, want := range map[string]string{
		`{"name":"ax_list_apps","arguments":{}}`:                              "object",
		`{"name":"ax_get_tree","arguments":{"app":"Editor"}}`:                 "object",
		`{"name":"ax_get_tree","arguments":{"app":"Editor","format":"json"}}`: "object",
		`{"name":"ax_find","arguments":{"app":"Editor","query":"Save"}}`:      "object",
		`{"name":"ax_click","arguments":{"app":"Editor","query":"Save"}}`:     "object",
		`{"name":"ax_click","arguments":{"app":"Nobody","query":"Save"}}`:     "",
		`{"name":"app_org_example_Notes"}`:                                    "string",
	} {
		var got struct {
			Content           []struct{ Text string }
			StructuredContent map[string]any
			IsError           bool
		}
		c.get("tools/call", params, &got)
		kind := map[string]string{"map[string]interface {}": "object", "string": "string", "<nil>": ""}[fmt.Sprintf("%T", got.StructuredContent["result"])]
		if kind != want || got.IsError != (want == "") {
			t.Errorf("%s: the result is of type %q: %v", params, kind, got)
		}
		// A client that shows only one of the two shows all facts.
		switch text, words := got.Content[0].Text, got.StructuredContent["text"]; {
		case want == "string":
			if !strings.HasPrefix(text, fmt.Sprint(got.StructuredContent["result"])) {
				t.Errorf("%s: the text %q is not in the data %v", params, text, got.StructuredContent)
			}
		case strings.Contains(params, "ax_get_tree") && strings.Contains(params, "json"): // its data repeats its text
			var said any
			if err := json.Unmarshal([]byte(text), &said); err != nil || words != nil || !reflect.DeepEqual(said, got.StructuredContent["result"]) {
				t.Errorf("%s: the text is %q, the data %v, %v", params, text, got.StructuredContent, err)
			}
		case strings.Contains(params, "ax_get_tree"):
			if !strings.HasPrefix(text, fmt.Sprint(words)) {
				t.Errorf("%s: the text %q is not in the data %v", params, text, got.StructuredContent)
			}
		case want != "" && words != nil: // the data contains it, once
			t.Errorf("%s: the words %q are there beside the data %v", params, words, got.StructuredContent)
		}
	}
}
