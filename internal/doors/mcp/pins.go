package mcp

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// The person can pin tools of apps: the list then has them under their own names, with their schemas, and a call of
// one is the same as by aai_exec.

// A PinnedTool is the entry of a pinned tool.
type PinnedTool struct {
	App    *aai.App
	Tool   *aai.Tool
	Name   string // as listed
	Tokens int    // of the entry, estimated
	entry  *mcp.Tool
}

// PinID returns the text by which a setting pins a tool of an app.
func PinID(app, tool string) string { return app + ":" + tool }

// PinnedTools returns the entries of the pinned tools that exist and can be called, in the order of the pins.
func PinnedTools(apps []*aai.App, pins []string) []PinnedTool {
	found := make([]PinnedTool, 0, len(pins))
	byName := make(map[string]int)
	for _, pin := range pins {
		app, tool := findPinned(apps, pin)
		if tool == nil || slices.ContainsFunc(found, func(p PinnedTool) bool { return p.Tool == tool }) {
			continue
		}
		name := plainToolName(tool.Name)
		byName[name]++
		found = append(found, PinnedTool{App: app, Tool: tool, Name: name})
	}
	for i := range found {
		p := &found[i]
		if byName[p.Name] > 1 || isReservedName(p.Name) {
			p.Name = aai.WireName(PinID(p.App.ID, p.Tool.Name)) // no other pin gives it that name
		}
		p.entry = pinnedEntry(p)
		p.Tokens = tokensOf(p.entry)
	}
	return found
}

func findPinned(apps []*aai.App, pin string) (*aai.App, *aai.Tool) {
	for _, app := range apps {
		name, of := strings.CutPrefix(pin, app.ID+":")
		if !of || app.ID == aai.BuiltinApp || app.ID == aai.DesktopApp {
			continue
		}
		if tool := app.Tool(name); tool != nil && tool.Run != nil {
			return app, tool
		}
	}
	return nil, nil
}

// maxPinnedName leaves room for the prefix of clients; see aai.WireName.
const maxPinnedName = 46

// plainToolName returns the name of a tool with only characters that the APIs of models accept.
func plainToolName(name string) string {
	plain := []byte(name[:min(len(name), maxPinnedName)])
	for i, c := range plain {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			plain[i] = '_'
		}
	}
	return string(plain)
}

// isReservedName reports whether the name may be that of another entry.
func isReservedName(name string) bool {
	return name == "" || slices.ContainsFunc([]string{"aai_", "app_", "web_", "ax_"}, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// pinnedEntry returns the entry of a pinned tool. It has no schema of results: clients that cannot compile one refuse
// the whole list.
func pinnedEntry(p *PinnedTool) *mcp.Tool {
	entry := directTool(p.App.ID, p.Tool)
	entry.Name, entry.OutputSchema, entry.Annotations.OpenWorldHint = p.Name, nil, nil
	entry.InputSchema = listedSchema(p.Tool.Params.Source)
	if p.App.Digest != "" { // the words are the app's
		entry.Title = sanitize.NeutralizeMarkup(p.Tool.Title, 60)
		entry.Description = "Of " + p.App.ID + ", in its words: " + sanitize.Quote(p.Tool.Description, maxDescription)
	}
	return entry
}

// listedSchema returns a schema of parameters that clients and the APIs of models accept: of the type object, and
// without a choice of schemas at its top. The gateway checks arguments by the whole schema.
func listedSchema(source json.RawMessage) map[string]any {
	var schema map[string]any
	if json.Unmarshal(source, &schema) != nil || schema == nil {
		schema = map[string]any{"properties": map[string]any{}}
	}
	schema["type"] = "object"
	maps.DeleteFunc(schema, func(name string, _ any) bool {
		return slices.Contains([]string{"$schema", "anyOf", "oneOf", "allOf", "not", "enum"}, name)
	})
	cleanWords(schema)
	return schema
}

// cleanWords limits the descriptions within a schema, and removes their markup and invisible characters.
func cleanWords(schema any) {
	switch node := schema.(type) {
	case []any:
		for _, item := range node {
			cleanWords(item)
		}
	case map[string]any:
		for name, value := range node {
			words, isText := value.(string)
			switch {
			case name == "default" || name == "const" || name == "enum" || name == "examples": // values
			case isText && (name == "description" || name == "title" || name == "$comment"):
				node[name] = sanitize.NeutralizeMarkup(words, maxSummary)
			default:
				cleanWords(value)
			}
		}
	}
}

// listPinned lists the new or changed pinned tools, and adds all of them to there.
func (d *Door) listPinned(apps []*aai.App, there map[string]listedTool) {
	if d.cfg.Pinned == nil || d.cfg.OnlyDirect {
		return
	}
	for _, p := range PinnedTools(apps, d.cfg.Pinned()) {
		if _, taken := there[p.Name]; !taken {
			d.listTool(p.Name, p.App.ID, p.Tool, p.entry, there)
		}
	}
}

// listTool lists a tool under a name if it is new or its entry has changed. It omits a tool that the SDK refuses by a
// panic.
func (d *Door) listTool(name, app string, tool *aai.Tool, entry *mcp.Tool, there map[string]listedTool) {
	defer d.recoverList()
	text, err := json.Marshal(entry)
	if err != nil {
		return
	}
	was, known := d.lists.tools[name]
	if now := (listedTool{app, tool, string(text)}); !known || was.app != app || was.entry != now.entry || was.tool.Name != tool.Name {
		d.server.AddTool(entry, d.run(app, tool.Name))
		d.lists.changes++
	}
	there[name] = listedTool{app, tool, string(text)}
}
