package cdp

import (
	"context"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/devtools"
	"github.com/gybob/aai-gateway/internal/schema"
)

// Names of the tools.
const (
	ToolBrowsers   = "browsers"
	ToolStart      = "browser_start"
	ToolConnect    = "browser_connect"
	ToolDisconnect = "browser_disconnect"
)

// AgentTools returns the tools that agents may use too. They only read.
func AgentTools() []string { return []string{ToolBrowsers} }

const (
	noParams      = `{"type": "object", "additionalProperties": false, "properties": {}}`
	browserParams = `{"type": "object", "additionalProperties": false, "required": ["browser"], "properties": {
		"browser": {"type": "string", "minLength": 1, "description": "Its profile folder, or program:port, as browsers shows"}}}`
	startParams = `{"type": "object", "additionalProperties": false, "properties": {
		"url": {"type": "string", "maxLength": 4000, "pattern": "^(https?://.|about:blank$)", "default": "about:blank", "description": "The page to open"}}}`
)

// howToListen is the advice where no browser listens.
const howToListen = "browser_start starts one for agents, with a profile of its own. The person's own one listens after they switch " +
	"it on at chrome://inspect/#remote-debugging (Chromium 144 and later)."

// Tools returns the tools of the gateway's own app for browsers.
func (p *Pages) Tools() []*aai.Tool {
	list := &aai.Tool{
		Name: ToolBrowsers, Description: "List the browsers that listen for DevTools, which of them agents may use, and their pages with tools",
		Params: schema.MustParse(noParams), Returns: aai.Schema{Source: answer.SchemaOf[[]answer.Browser]()}, Effect: aai.Reads,
		Assess: aai.Always(aai.Assessment{EffectInherent: true}), Run: p.list,
	}
	return []*aai.Tool{
		list,
		{
			Name: ToolStart, Description: "Start a browser that agents may use, with a profile of its own",
			Params: schema.MustParse(startParams), Effect: aai.Changes, Run: p.startTool,
		},
		{
			Name: ToolConnect, Description: "Let agents use the tools of the pages of a browser, and read and operate its pages by DevTools too, until it ends",
			Params: schema.MustParse(browserParams), Effect: aai.Changes, Limits: aai.Limits{Timeout: devtools.AnswerTimeout}, Run: p.connectTool,
			Precheck: func(_ context.Context, call *aai.Call) error { _, err := p.choose(call); return err },
		},
		{
			Name: ToolDisconnect, Description: "Take a browser away from agents", Params: schema.MustParse(browserParams),
			Effect: aai.Changes, Run: p.disconnectTool,
		},
	}
}

// list lists the browsers.
func (p *Pages) list(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
	apps := p.apps(ctx)
	allowed, err := p.browsers.Allowed(ctx)
	if err != nil {
		return nil, undelivered(aai.AutomationFailed, "Remove the file; browsers are then allowed anew.", "%w", err)
	}
	rows := []answer.Browser{}
	for _, e := range p.browsers.Listening() {
		row := answer.Browser{Name: e.Name, Port: e.Port, PID: e.PID, Profile: aai.CleanLabel(e.Key(), 200), Asks: e.Asks, IsAllowed: slices.Contains(allowed, e.ID()), Pages: []string{}}
		for _, app := range apps {
			if row.IsAllowed && app.Source == e.String() {
				row.Pages = append(row.Pages, app.ID)
			}
		}
		row.Problem = p.problemOf(ctx, e)
		rows = append(rows, row)
	}
	return &aai.Result{Data: rows, Text: describe(rows)}, nil
}

// describe describes the browsers for models.
func describe(rows []answer.Browser) string {
	if len(rows) == 0 {
		return "No browser listens for DevTools. " + howToListen
	}
	var lines []string
	for _, row := range rows {
		line := row.Name + ", " + row.Profile
		switch {
		case !row.IsAllowed && row.Asks:
			line += ", is not connected; browser_connect asks the person, and then the browser asks them too, each time that a gateway connects"
		case !row.IsAllowed:
			line += ", is not connected; browser_connect asks the person"
		case row.Problem != "":
			line += ": " + row.Problem
		case len(row.Pages) == 0:
			line += ", has no page with tools"
		default:
			line += ": " + strings.Join(row.Pages, ", ")
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// problemOf returns why no page of a connected browser can have tools, or "".
func (p *Pages) problemOf(ctx context.Context, e devtools.Endpoint) string {
	for _, one := range p.connected(ctx) {
		if one.ID() == e.ID() {
			return one.problem(ctx)
		}
	}
	return ""
}

// choose returns the browser that a call names.
func (p *Pages) choose(call *aai.Call) (devtools.Endpoint, error) {
	name, _ := call.Args["browser"].(string)
	var fits []devtools.Endpoint
	all := p.browsers.Listening()
	for _, e := range all {
		if name == e.Key() { // the question shows it, so it must say which browser it is
			fits = append(fits, e)
		}
	}
	if len(fits) == 1 {
		return fits[0], nil
	}
	e := undelivered(aai.AppNotFound, howToListen, "no browser listens for DevTools")
	switch {
	case len(all) > 0 && len(fits) == 0:
		e = undelivered(aai.AppNotFound, "Name one of them.", "browser: no browser %q listens", aai.CleanLabel(name, 200))
	}
	for _, one := range all {
		e.Candidates = append(e.Candidates, one.Key())
	}
	return devtools.Endpoint{}, e
}

// startTool starts a browser for agents.
func (p *Pages) startTool(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	address, _ := call.Args["url"].(string)
	one, err := p.browsers.Start(ctx, address)
	if err != nil {
		return nil, err
	}
	p.connected(ctx)
	ends := "It ends with this gateway."
	if one.Port != 0 {
		ends = "It runs until its window is closed; other programs of this computer can use it by its port too."
	}
	return &aai.Result{
		Text: "Started " + one.String() + ". " + ends, Data: map[string]any{"browser": one.Name, "pid": one.PID, "profile": one.Profile},
	}, nil
}

// refused returns the error for a browser that does not let the gateway in.
func refused(ctx context.Context, e devtools.Endpoint, err error) error {
	switch {
	case e.Asks && ctx.Err() != nil:
		return undelivered(aai.Timeout, "Connect again when the person is there.", "%s asked the person, who has not answered", e)
	case e.Asks:
		return undelivered(aai.PermissionDenied, "Connect again only if the person wants that.", "%s asked the person, who did not allow it", e)
	}
	return undelivered(aai.AutomationFailed, "Look whether it still runs.", "%s does not let the gateway in: %w", e, err)
}

// connectTool allows a browser and connects to it.
func (p *Pages) connectTool(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	e, err := p.choose(call)
	if err != nil {
		return nil, err
	}
	if err := p.browsers.Connect(ctx, e); err != nil {
		return nil, refused(ctx, e, err)
	}
	p.connected(ctx)
	return &aai.Result{Text: "Agents may use the tools of the pages of " + e.String() + ". Each tool is still asked about. Calls on its windows, asked about as before, also use DevTools.", Data: map[string]any{"browser": e.Name, "port": e.Port}}, nil
}

// disconnectTool takes a browser away from agents.
func (p *Pages) disconnectTool(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	e, err := p.choose(call)
	if err != nil {
		return nil, err
	}
	if err := p.browsers.Disconnect(ctx, e); err != nil {
		return nil, undelivered(aai.AutomationFailed, "", "%w", err)
	}
	return &aai.Result{Text: e.String() + " is disconnected."}, nil
}
