package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// The canonical ids of the AAI protocol.
const (
	execID     = "aai:exec"
	discoverID = "web:discover"
	appPrefix  = "app:"
)

// maxSummary limits the description of an app's entry in bytes: every app's entry is in
// every conversation.
const maxSummary = 200

// maxDescription limits the description of a directly listed tool, in bytes.
const maxDescription = 1000

// A listing holds the data with which an app was last listed.
type listing struct {
	tool, summary, resource string
	modified                time.Time // of the descriptor
	hasEvents               bool
}

// noParams is the schema of a tool without parameters.
const noParams = `{"properties":{},"type":"object"}`

// list updates the server's tools and resources from the catalog. The SDK notifies clients
// of changes.
func (d *Door) list() {
	defer d.recoverList()
	d.lists.making.Lock()
	defer d.lists.making.Unlock()
	apps := d.cfg.Gateway.Catalog.Apps() // may wait for the first scan
	d.lists.mu.Lock()
	defer d.lists.mu.Unlock()
	var desktop *aai.App
	now := make(map[string]*aai.App)
	tools := make(map[string]listedTool)
	for _, app := range apps {
		if app.ID == aai.DesktopApp {
			desktop = app
		}
		switch {
		case app.ID == aai.BuiltinApp || app.IsPage() || !app.IsRunnable():
		case slices.Contains(d.cfg.DirectApps, app.ID):
			d.listTools(app, tools)
		case !d.cfg.OnlyDirect:
			now[app.ID] = app
		}
	}
	d.listPinned(apps, tools)
	d.listPrompts(desktop)
	for name := range d.lists.tools {
		if _, there := tools[name]; !there {
			d.server.RemoveTools(name)
			d.lists.changes++
		}
	}
	d.lists.tools = tools
	d.listGuides(now)
	d.finishFirstScan()
	d.saveEntries()
}

// listGuides lists the apps in now, and no others.
func (d *Door) listGuides(now map[string]*aai.App) {
	news := false
	for id, l := range d.lists.apps {
		if now[id] == nil {
			d.server.RemoveResources(l.resource, l.resource+eventsSuffix)
			delete(d.lists.guides, l.tool)
			delete(d.lists.apps, id)
			news = true
		}
	}
	for id, app := range now {
		l := listing{tool: d.toolName(appPrefix + id), summary: summary(app), resource: appPrefix + id, modified: app.Descriptor.Modified, hasEvents: hasEvents(app)}
		if d.lists.apps[id] != l {
			news = d.add(app, l) || news
		}
	}
	if news {
		d.notifyGuides()
	}
}

// listTools lists the new or changed tools of a direct app, and adds all of its tools to there.
func (d *Door) listTools(app *aai.App, there map[string]listedTool) {
	for _, tool := range app.Tools {
		if _, taken := there[tool.Name]; tool.Run != nil && !taken && !tool.Limits.Unlisted {
			d.listTool(tool.Name, app.ID, tool, directTool(app.ID, tool), there)
		}
	}
}

// directTool returns the entry of a tool that is listed under its own name. The list is in every
// conversation, so an entry has no field that its name or a default already says.
func directTool(app string, tool *aai.Tool) *mcp.Tool {
	schema := json.RawMessage(noParams)
	if tool.Params.Source != nil {
		schema = tool.Params.Source
	}
	reads := tool.Effect == aai.Reads && !tool.Assessment(nil).MayStartProgram
	listed := &mcp.Tool{
		Name: tool.Name, Title: aai.CleanLabel(tool.Title, 60), Description: aai.CleanText(tool.Description, maxDescription),
		InputSchema: schema,
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: reads, IdempotentHint: reads || tool.Idempotent, OpenWorldHint: new(false)},
	}
	if !reads { // for other tools the hint has no meaning
		listed.Annotations.DestructiveHint = new(tool.Effect == aai.Destroys)
	}
	if tool.Returns.Source != nil {
		listed.OutputSchema = outputSchema(app, tool.Returns.Source)
	}
	return listed
}

// add lists a new or changed app and reports whether its entry in the list of tools
// changes. It omits an app that the SDK refuses by a panic.
func (d *Door) add(app *aai.App, l listing) (news bool) {
	defer d.recoverList()
	if app.Descriptor.Raw != nil {
		d.server.AddResource(descriptorResource(app, l), d.read)
	}
	if l.hasEvents {
		d.server.AddResource(eventsListing(app), d.read)
	}
	if was, known := d.lists.apps[app.ID]; !known || was.summary != l.summary {
		d.lists.guides[l.tool] = guide{app.ID, d.guideEntry(app.ID, displayName(app), l.summary)}
		news = true
	}
	d.lists.apps[app.ID] = l
	return news
}

// recoverList is deferred by functions that make lists: after a panic the last lists stay.
func (d *Door) recoverList() {
	if p := recover(); p != nil {
		d.cfg.Log.Error("panic in listing the apps", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
	}
}

// toolName returns the name under which an id is listed.
func (d *Door) toolName(id string) string {
	if d.cfg.UseCanonicalNames {
		return id
	}
	return aai.WireName(id)
}

// guideEntry returns the tool that clients see for an app.
func (d *Door) guideEntry(id, title, summary string) *mcp.Tool {
	return &mcp.Tool{
		Name:        d.toolName(appPrefix + id),
		Title:       title,
		Description: summary,
		InputSchema: json.RawMessage(noParams),
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: new(false)},
		Meta:        mcp.Meta{"aai/id": appPrefix + id},
	}
}

func (d *Door) execTool() *mcp.Tool {
	text := func(description string) map[string]any {
		return map[string]any{"type": "string", "description": description}
	}
	return &mcp.Tool{
		Name:        d.toolName(execID),
		Title:       "Run an app's tool",
		Description: "Run one tool of an app. The app's guide, or a search, names the tools and their parameters: read it first.",
		InputSchema: map[string]any{
			"type": "object",
			"properties": map[string]any{
				"app":  text("App id"),
				"tool": text("Tool name"),
				"args": map[string]any{"type": "object", "description": "The tool's parameters"},
			},
			"required": []string{"app", "tool"},
		},
		Annotations: &mcp.ToolAnnotations{DestructiveHint: new(true), OpenWorldHint: new(true)},
		Meta:        mcp.Meta{"aai/id": execID},
	}
}

func descriptorResource(app *aai.App, l listing) *mcp.Resource {
	annotations := &mcp.Annotations{Audience: []mcp.Role{"assistant"}, Priority: descriptorPriority}
	if !l.modified.IsZero() {
		annotations.LastModified = l.modified.UTC().Format(time.RFC3339)
	}
	return &mcp.Resource{
		Annotations: annotations,
		URI:         l.resource,
		Name:        displayName(app),
		Description: sanitize.NeutralizeMarkup(app.Description, maxSummary),
		MIMEType:    "application/aai+json",
	}
}

// summary returns an app's line in the list of tools:
// 【Reminders
// 提醒事项】macOS reminders. Aliases: todo. Call to get guide.
// The text of an app from the web is in quotation marks, after its host.
func summary(app *aai.App) string {
	sentences := []string{sentence(sanitize.NeutralizeMarkup(app.Description, maxSummary))}
	if host := origin(app); host != "" {
		sentences[0] = sentence("Web app of " + host + ", in its words: " + sanitize.Quote(app.Description, maxSummary))
	}
	if why := sanitize.ConfusableReason(app.Name); why != "" {
		sentences = append(sentences, "Take care: the name "+why+".")
	}
	if len(app.Aliases) > 0 {
		sentences = append(sentences, sentence("Aliases: "+sanitize.NeutralizeMarkup(strings.Join(app.Aliases, ", "), 80)))
	}
	sentences = append(sentences, "Call to get guide.")
	return "【" + sanitize.NeutralizeMarkup(app.Name, 120) + "】" + strings.TrimLeft(strings.Join(sentences, " "), " ")
}

// origin returns the host of an app from the web, in ASCII.
func origin(app *aai.App) string {
	_, host, _ := strings.Cut(app.Site.Origin, "://")
	return aai.CleanLabel(host, 260)
}

// sentence adds a full stop to a text that does not end with a punctuation mark.
func sentence(text string) string {
	if text == "" || strings.HasSuffix(text, "…") {
		return text
	}
	if last, _ := utf8.DecodeLastRuneInString(text); strings.ContainsRune(".!?。！？", last) {
		return text
	}
	return text + "."
}

// displayName returns the first of the app's names.
func displayName(app *aai.App) string {
	name, _, _ := strings.Cut(app.Name, "|")
	name = sanitize.NeutralizeMarkup(name, 60)
	if host := origin(app); host != "" {
		return name + " (" + host + ")"
	}
	return name
}

// An app's entry in the list of tools is not one of the SDK's tools: adding one there
// allocates 100 KB, and a computer may have a thousand apps. All entries share one tool,
// which the lists do not show.

// A guide is the entry of an app.
type guide struct {
	app  string // its id
	tool *mcp.Tool
}

// guideHandlerName is the name of the one tool behind all entries. A client that calls this name
// directly gets the error for an unknown tool.
const guideHandlerName = "aai.any-guide"

type guideKey struct{}

// notifyGuides makes the SDK notify the clients of changed entries.
func (d *Door) notifyGuides() {
	d.server.AddTool(&mcp.Tool{Name: guideHandlerName, InputSchema: json.RawMessage(noParams)}, d.readGuide)
}

// readGuide returns the guide of the app with the called entry.
func (d *Door) readGuide(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	app, called := ctx.Value(guideKey{}).(string)
	if !called {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("unknown tool %q", guideHandlerName)}
	}
	return d.do(ctx, req, &aai.Call{App: aai.BuiltinApp, Tool: guideTool, Args: map[string]any{"app": app}})
}

// guideOf finds the app with the entry of that name.
func (d *Door) guideOf(name string) (app string, ok bool) {
	d.lists.mu.Lock()
	defer d.lists.mu.Unlock()
	g, ok := d.lists.guides[name]
	return g.app, ok
}

// discoverTool finds the app of a web site: it returns the app's guide and adds the app to
// the list.
func (d *Door) discoverTool() *mcp.Tool {
	return &mcp.Tool{
		Name:        d.toolName(discoverID),
		Description: "Get the guide of a web app that is not listed, by URL, domain or name.",
		InputSchema: map[string]any{
			"type":       "object",
			"properties": map[string]any{"url": map[string]any{"type": "string"}},
			"required":   []string{"url"},
		},
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true}, // OpenWorldHint is true by default
		Meta:        mcp.Meta{"aai/id": discoverID},
	}
}
