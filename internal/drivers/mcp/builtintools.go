package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/schema"
)

// Names of the driver's tools in the builtin app; see [Driver.Tools].
const (
	ServersTool = "mcp_servers"
	EnvTool     = "mcp_env"
	TrustTool   = "mcp_trust"
)

const (
	serverRows = `{"type": "array", "items": {"type": "object", "additionalProperties": false, "properties": {
		"app": {"type": "string", "title": "app"}, "runs": {"type": "boolean", "title": "runs"}, "tools": {"type": "integer", "title": "tools"},
		"needs": {"type": "array", "items": {"type": "string"}, "title": "needs"}, "claims": {"type": "array", "items": {"type": "string"}, "title": "claims to read only"},
		"server": {"type": "string", "title": "server"}}}}`
	envParams = `{"type": "object", "additionalProperties": false, "required": ["app", "values"], "properties": {"app": {"type": "string", "minLength": 1},
		"values": {"type": "object", "additionalProperties": {"type": "string"}, "minProperties": 1, "description": "By name; an empty value deletes it"}}}`
	trustParams = `{"type": "object", "additionalProperties": false, "required": ["app"], "properties": {"app": {"type": "string", "minLength": 1},
		"tools": {"type": "array", "items": {"type": "string"}, "description": "Only these of the tools with claims"}, "undo": {"type": "boolean", "description": "Withdraw the trust"},
		"asks": {"type": "array", "items": {"enum": ["elicitation", "sampling"]}, "description": "Instead: allowed requests during a call (empty: none): the person's answer, a text by the caller's model"}}}`
)

// Tools returns the driver's tools for the builtin app: they list servers, store their variables and trust their
// claims. Each call of a tool calls known, so the catalog may be created later.
func (d *Driver) Tools(known func() aai.Catalog) []*aai.Tool {
	o := builtinTools{d, known}
	return []*aai.Tool{
		{Name: ServersTool, Description: "List the MCP servers that are apps", Params: schema.MustParse(noParams), Returns: schema.MustParse(serverRows), Effect: aai.Reads, Run: o.list},
		{Name: EnvTool, Description: "Store, encrypted, the environment variables for an MCP server", Params: schema.MustParse(envParams),
			Effect: aai.Changes, Privacy: aai.Privacy{Secret: []string{"values"}}, Run: o.env},
		{Name: TrustTool, Description: "Trust an MCP server's claims about its current tools: that they only read, or destroy nothing; or let it send requests", Params: schema.MustParse(trustParams),
			Effect: aai.Changes, Run: o.trust},
	}
}

type builtinTools struct {
	driver *Driver
	known  func() aai.Catalog
}

// recipe returns the app of the call and the recipe of its server.
func (o builtinTools) recipe(ctx context.Context, call *aai.Call) (*aai.App, *aai.Recipe, *aai.Error) {
	app, err := o.known().Find(ctx, textArg(call, "app"))
	if err != nil {
		e := *aai.AsError(err)
		e.Delivery = aai.NotDelivered
		return nil, nil, &e
	}
	if app.Server == nil {
		return nil, nil, undeliveredError(aai.InvalidParams, "aai-gateway mcp servers lists them.", "app: %s is no MCP server that lists its own tools", app.ID)
	}
	return app, app.Server, nil
}

// list returns a row for each app with an MCP server.
func (o builtinTools) list(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
	type serverRow struct {
		App    string   `json:"app"`
		Runs   bool     `json:"runs"`
		Tools  int      `json:"tools"`
		Needs  []string `json:"needs,omitempty"`
		Claims []string `json:"claims,omitempty"`
		Server string   `json:"server"`
	}
	rows := []serverRow{}
	for _, app := range o.known().Apps() {
		if app.Server == nil {
			continue
		}
		s := o.driver.serverOf(app.Server)
		s.mu.Lock()
		r := serverRow{App: app.ID, Runs: s.live != nil, Server: strings.TrimSpace(app.Server.MCP.URL + " " + strings.Join(append([]string{app.Server.MCP.Command}, app.Server.MCP.Args...), " "))}
		s.mu.Unlock()
		values, _ := s.values(ctx)
		for _, name := range app.Server.MCP.Env {
			if values[name] == "" && o.driver.config.Getenv(name) == "" {
				r.Needs = append(r.Needs, name)
			}
		}
		if l := o.driver.listingOf(app); l != nil {
			r.Tools = len(l.definitions)
			for _, d := range l.definitions {
				if d.Annotations.claim() != aai.Destroys && !l.trusted[d.digest] {
					r.Claims = append(r.Claims, d.tool)
				}
			}
		}
		rows = append(rows, r)
	}
	return &aai.Result{Data: rows}, nil
}

// env stores values of a server's variables, and restarts the server.
func (o builtinTools) env(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	app, r, err := o.recipe(ctx, call)
	if err != nil {
		return nil, err
	}
	fresh, _ := call.Args["values"].(map[string]any)
	for name := range fresh {
		if !slices.Contains(r.MCP.Env, name) {
			return nil, undeliveredError(aai.InvalidParams, "The descriptor names the server's variables.", "values.%s: the descriptor of %s does not name it; expected one of %s",
				aai.CleanLabel(name, 60), app.ID, cmp.Or(strings.Join(r.MCP.Env, ", "), "none"))
		}
	}
	names := []string{}
	err = o.driver.keep(ctx, secretID(app.ID), func(old []byte) ([]byte, error) {
		values := make(map[string]string)
		_ = json.Unmarshal(old, &values) // unreadable values are discarded
		for name, value := range fresh {
			if values[name], _ = value.(string); value == "" {
				delete(values, name)
			}
		}
		names = slices.Sorted(maps.Keys(values))
		if len(values) == 0 {
			return nil, nil
		}
		return json.Marshal(values)
	})
	if err != nil {
		return nil, err
	}
	o.driver.restart(app.ID)
	return &aai.Result{Data: map[string]any{"app": app.ID, "kept": names}}, nil
}

// trust stores the digests of the tools with trusted annotations.
func (o builtinTools) trust(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	app, _, err := o.recipe(ctx, call)
	if err != nil {
		return nil, err
	}
	l := o.driver.listingOf(app)
	if l == nil {
		return nil, notConnectedError(app)
	}
	if given, ok := call.Args["asks"].([]any); ok {
		return o.allowRequests(ctx, app, given)
	}
	only, _ := call.Args["tools"].([]any)
	undo, _ := call.Args["undo"].(bool)
	believed, digests := map[string]string{}, []string{}
	for _, d := range l.definitions {
		if claim := d.Annotations.claim(); claim != aai.Destroys && !undo && (only == nil || slices.Contains(only, any(d.tool))) {
			believed[d.tool] = claim.String()
			digests = append(digests, d.digest)
		}
	}
	for _, name := range only {
		if _, found := believed[fmt.Sprint(name)]; !found && !undo {
			return nil, undeliveredError(aai.InvalidParams, "The app's guide lists its tools.", "tools: %s is no tool of %s that claims to read only, or to destroy nothing", aai.CleanLabel(fmt.Sprint(name), 60), app.ID)
		}
	}
	err = o.driver.keep(ctx, hintsID(app.ID), func([]byte) ([]byte, error) {
		if len(digests) == 0 {
			return nil, nil
		}
		return json.Marshal(digests)
	})
	if err != nil {
		return nil, err
	}
	o.driver.updateTrust(app.ID, func(l *listing) { l.Hints = len(digests) > 0 })
	return &aai.Result{Data: map[string]any{"app": app.ID, "believed": believed}}, nil
}

// allowRequests stores the requests that a server may make. It restarts the server, which learns
// its client's capabilities only at the start.
func (o builtinTools) allowRequests(ctx context.Context, app *aai.App, given []any) (*aai.Result, error) {
	if o.driver.listingOf(app) == nil {
		return nil, notConnectedError(app)
	}
	kept := allowedRequests{Server: recipeDigest(app.Server), Asks: []string{}}
	for _, ask := range given {
		if word := fmt.Sprint(ask); !slices.Contains(kept.Asks, word) {
			kept.Asks = append(kept.Asks, word)
		}
	}
	err := o.driver.keep(ctx, allowedRequestsID(app.ID), func([]byte) ([]byte, error) {
		if len(kept.Asks) == 0 {
			return nil, nil
		}
		return json.Marshal(kept)
	})
	if err != nil {
		return nil, err
	}
	o.driver.updateTrust(app.ID, func(l *listing) { l.Asks = len(kept.Asks) > 0 })
	o.driver.restart(app.ID)
	// The server's tools may depend on the requests it may make.
	s := o.driver.serverOf(app.Server)
	if _, err := s.acquire(ctx); err != nil {
		return nil, err
	}
	s.release()
	return &aai.Result{Data: map[string]any{"app": app.ID, "asks": kept.Asks}}, nil
}

func notConnectedError(app *aai.App) *aai.Error {
	return undeliveredError(aai.AppNotRunning, "Start it first: aai-gateway exec "+app.ID+" "+toolStart+".", "the MCP server of %s has not listed its tools yet", app.ID)
}
