package mcp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/schema"
)

// Tools that the gateway adds to an app with a server.
const (
	toolStart        = "mcp_start"
	toolResourceList = "resource_list"
	toolResourceRead = "resource_read"
	toolPromptList   = "prompt_list"
	toolPromptGet    = "prompt_get"
)

const (
	noParams   = `{"type": "object", "additionalProperties": false, "properties": {}}`
	pageParams = `{"type": "object", "additionalProperties": false, "properties": {"cursor": {"type": "string", "description": "next_cursor of the previous page"}}}`
	uriParams  = `{"type": "object", "additionalProperties": false, "required": ["uri"], "properties": {"uri": {"type": "string", "minLength": 1}}}`
	getParams  = `{"type": "object", "additionalProperties": false, "required": ["name"], "properties": {"name": {"type": "string", "minLength": 1},
		"arguments": {"type": "object", "additionalProperties": {"type": "string"}}}}`
)

// maxText is the limit, in bytes, for a description.
const maxText = 4000

// toolMaker makes the tools of an app from the server's listing.
type toolMaker struct {
	driver  *Driver
	app     *aai.App
	recipe  *aai.Recipe
	schemas schema.Reader
}

// starter returns the only tool of an app with an unlisted server.
func (m *toolMaker) starter() *aai.Tool {
	recipe := m.recipe
	return m.builtinTool(toolStart, aai.Destroys, "Start the app's MCP server and list its tools; the guide contains them from then on", noParams,
		func(ctx context.Context, _ *aai.Call) (*aai.Result, error) { return m.driver.start(ctx, recipe) })
}

// builtinTool returns a tool that the gateway adds to the server's tools. Each may start the
// server, an arbitrary program. The effect aai.Reads covers only the request after the start.
func (m *toolMaker) builtinTool(name string, effect aai.Effect, description, params string, run aai.Action) *aai.Tool {
	starts := m.recipe.MCP.Command != ""
	return &aai.Tool{
		Name: name, Description: description, Params: schema.MustParse(params), Effect: effect, Limits: aai.Limits{Timeout: m.driver.config.ToolTimeout},
		Assess: aai.Always(aai.Assessment{MayStartProgram: starts}), Run: run, Implementation: aai.Implementation{Summary: m.describe(name), Digest: m.digest(name, effect)},
	}
}

// describe returns one line for the user that explains the tool.
func (m *toolMaker) describe(tool string) string {
	r := m.recipe.MCP
	if r.URL != "" {
		return aai.CleanLabel("MCP server "+r.URL+": "+tool, maxText)
	}
	return aai.CleanLabel("starts, if it does not run, the MCP server "+strings.Join(append([]string{r.Command}, r.Args...), " ")+": "+tool, maxText)
}

// digest returns the digest of the tool's description and its execution. Consent is bound to it.
func (m *toolMaker) digest(said string, effect aai.Effect) func() string {
	sum := sha256.Sum256([]byte(strings.Join([]string{m.app.ID, m.app.Name, recipeDigest(m.recipe), effect.String(), said}, "\x00")))
	digest := hex.EncodeToString(sum[:])
	return func() string { return digest }
}

// tools returns the server's tools, and the gateway's tools for its resources and prompts.
func (m *toolMaker) tools(l *listing) []*aai.Tool {
	tools := make([]*aai.Tool, 0, len(l.definitions)+4)
	for _, d := range l.definitions {
		effect := aai.Destroys
		if l.trusted[d.digest] {
			effect = d.Annotations.claim()
		}
		tools = append(tools, m.tool(d, effect))
	}
	var more []*aai.Tool
	if l.Resources {
		read := m.builtinTool(toolResourceRead, aai.Reads, "Read a resource of the server", uriParams, m.session((*session).resource))
		if m.driver.config.Events != nil {
			read.Implementation.Watch = m.watchResource
		}
		more = append(more,
			m.builtinTool(toolResourceList, aai.Reads, "List the resources of the server, and the templates of their URIs", pageParams, m.session((*session).resources)), read)
	}
	if l.Prompts {
		more = append(more,
			m.builtinTool(toolPromptList, aai.Reads, "List the prompts of the server", pageParams, m.session((*session).prompts)),
			m.builtinTool(toolPromptGet, aai.Reads, "Return a prompt of the server, as data", getParams, m.session((*session).prompt)))
	}
	if len(tools)+len(more) == 0 {
		return []*aai.Tool{m.starter()}
	}
	if l.Events && m.driver.config.Events != nil {
		more = append(more, m.eventsTool())
	}
	for _, tool := range more {
		tools = join(tools, tool)
	}
	return tools
}

// join adds a tool of the gateway. If the server has a tool of the same name, neither is callable,
// because a caller could not tell them apart.
func join(tools []*aai.Tool, own *aai.Tool) []*aai.Tool {
	for i, tool := range tools {
		if tool.Name != own.Name {
			continue
		}
		clash := *tool
		clash.Run = nil
		clash.Implementation.Unavailable = undeliveredError(aai.AutomationNotSupported, "The descriptor can list the wanted tools of the server; the gateway then adds none.",
			"the server has a tool %q, the name of the gateway's own tool for the server's %ss: neither can be called", own.Name, strings.TrimSuffix(strings.Split(own.Name, "_")[0], "s"))
		tools[i] = &clash
		return tools
	}
	return append(tools, own)
}

// tool converts a server's tool. A tool that is not callable carries the reason and does not affect the others.
func (m *toolMaker) tool(d definition, effect aai.Effect) *aai.Tool {
	tool := &aai.Tool{
		Name: d.tool, Title: aai.CleanLabel(cmp.Or(d.Title, d.Annotations.Title), 200), Description: aai.CleanText(d.Description, maxText),
		Effect: effect, Limits: aai.Limits{Timeout: m.driver.config.ToolTimeout}, Implementation: aai.Implementation{Summary: m.describe(d.tool)},
	}
	tool.Implementation.Digest = m.digest(d.digest, tool.Effect)
	if d.fault != "" {
		tool.Implementation.Unavailable = undeliveredError(aai.AutomationNotSupported, "The server's author can correct that.", "the tool %s cannot be called: %s", d.tool, d.fault)
		return tool
	}
	if d.tool != d.Name {
		tool.Description = strings.TrimSpace(fmt.Sprintf("The server's name of it is %q. %s", aai.CleanLabel(d.Name, maxName), tool.Description))
	}
	params := m.params(d.InputSchema)
	tool.Params, tool.Privacy.Secret = params.Schema, params.SecretNames
	if !isAbsent(d.OutputSchema) {
		returns := m.schemas.ReadLenient(d.OutputSchema)
		tool.Returns, tool.Privacy.Result = returns.Schema, len(returns.SecretNames) > 0
	}
	recipe, name, digest := m.recipe, d.Name, d.digest
	tool.Run = func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
		return m.driver.serverOf(recipe).call(ctx, call, name, digest)
	}
	return tool
}

// params reads the schema of a tool's arguments, which are always an object.
func (m *toolMaker) params(source json.RawMessage) schema.Facts {
	if isAbsent(source) {
		source = json.RawMessage(`{"type":"object"}`)
	}
	facts := m.schemas.ReadLenient(source)
	if facts.Type != "" && !strings.Contains(facts.Type, `"object"`) {
		wrong := "the whole schema: its type is " + facts.Type + `; expected "object"`
		facts.Schema.Check = m.schemas.ReadLenient([]byte("{}")).Schema.Check
		facts.Schema.Unchecked = []string{wrong}
	}
	return facts
}

func isAbsent(source json.RawMessage) bool { return len(source) == 0 || string(source) == "null" }

// session returns an Action that runs act on the server's session.
func (m *toolMaker) session(act func(s *session, ctx context.Context, call *aai.Call) (*aai.Result, error)) aai.Action {
	recipe := m.recipe
	return func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
		s := m.driver.serverOf(recipe)
		return s.withSession(ctx, func(ctx context.Context, live *session) (*aai.Result, error) {
			until, done := live.requests.serve(ctx, call)
			defer done()
			result, cause := act(live, until, call)
			if cause != nil {
				return nil, live.requestError(ctx, cause)
			}
			s.resetFailures()
			return live.withSource(result), nil
		})
	}
}

// start starts the server of a recipe and returns its listing.
func (d *Driver) start(ctx context.Context, r *aai.Recipe) (*aai.Result, error) {
	s := d.serverOf(r)
	live, err := s.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer s.release()
	l := live.listing.Load()
	names := make([]string, len(l.definitions))
	for i, d := range l.definitions {
		names[i] = d.tool
	}
	data := map[string]any{"server": l.Name, "version": l.Version, "tools": names, "resources": l.Resources, "prompts": l.Prompts}
	if l.Instructions != "" {
		data["instructions"] = l.Instructions
	}
	warning := ""
	if l.Rest != "" {
		data["missing"], warning = l.Rest, "tools are missing: "+l.Rest
	}
	return live.withSource(&aai.Result{Data: data, Warning: warning, Text: fmt.Sprintf("The server runs and has %s; the guide to %s lists them.", aai.Count(len(names), "tool"), r.App)}), nil
}
