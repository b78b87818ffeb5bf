package builtin

import (
	"context"
	"fmt"
	"slices"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
)

// Names of the tools for pinned tools.
const (
	Pins  = "pins"
	Pin   = "pin"
	Unpin = "unpin"
)

const pinParams = `{"type": "object", "additionalProperties": false, "required": ["app", "tool"], "properties": {
	"app": {"type": "string", "minLength": 1, "description": "App id"}, "tool": {"type": "string", "minLength": 1}}}`

// PinStore holds the tools that the person has pinned into the list of tools of agents.
type PinStore interface {
	// Pin pins a tool, or with undo unpins it. The call carries the person's confirmation.
	Pin(ctx context.Context, call *aai.Call, app, tool string, undo bool) error
	// Pins returns the pinned tools.
	Pins() []answer.Pin
}

// pinTools pin tools.
type pinTools struct {
	store PinStore
	known func() Catalog
}

func (p pinTools) tools() []*aai.Tool {
	if p.store == nil {
		return nil
	}
	pins := readTool(Pins, "List the tools that are pinned into the list of tools of agents", noParams, p.list)
	pins.Returns = aai.Schema{Source: answer.SchemaOf[[]answer.Pin]()}
	return []*aai.Tool{
		pins,
		withPrecheck(p.precheck, changeTool(Pin, "Show agents a tool by itself, in every conversation", pinParams, p.pin)),
		changeTool(Unpin, "Take a pinned tool out of the list of tools of agents", pinParams, p.unpin),
	}
}

func (p pinTools) list(context.Context, *aai.Call) (*aai.Result, error) {
	return &aai.Result{Data: p.store.Pins()}, nil
}

// precheck returns the error of a tool that does not exist or cannot be called.
func (p pinTools) precheck(ctx context.Context, call *aai.Call) error {
	_, err := p.find(ctx, call)
	return err
}

func (p pinTools) find(ctx context.Context, call *aai.Call) (*aai.App, error) {
	app, err := p.known().Find(ctx, text(call, "app"))
	if err != nil {
		return nil, err
	}
	if app.ID == aai.BuiltinApp || app.ID == aai.DesktopApp {
		e := aai.Errorf(aai.InvalidParams, "app: the tools of %s are not pinned", app.ID)
		e.Hint = "For the tools of windows set profile to all."
		return nil, e
	}
	switch tool := app.Tool(text(call, "tool")); {
	case tool == nil:
		return nil, unknownToolError(app, text(call, "tool"))
	case tool.Run == nil:
		return nil, aai.Errorf(aai.AutomationNotSupported, "tool: %s of %s cannot be called here", tool.Name, app.ID)
	}
	return app, nil
}

func (p pinTools) pin(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	app, err := p.find(ctx, call)
	if err != nil {
		return nil, err
	}
	if err := p.store.Pin(ctx, call, app.ID, text(call, "tool"), false); err != nil {
		return nil, err
	}
	pins, total := p.store.Pins(), 0
	for _, pin := range pins {
		total += pin.Tokens
	}
	i := slices.IndexFunc(pins, func(pin answer.Pin) bool { return pin.App == app.ID && pin.Tool == text(call, "tool") })
	if i < 0 || pins[i].Name == "" {
		return &aai.Result{Text: "It is pinned, and not in effect yet.", Data: pins}, nil
	}
	return &aai.Result{Data: pins[i], Text: fmt.Sprintf("Agents see %s of %s as %s. That costs about %d tokens in every conversation; all %d pinned tools cost %d. "+
		"A call needs your consent as before.", pins[i].Tool, app.ID, pins[i].Name, pins[i].Tokens, len(pins), total)}, nil
}

func (p pinTools) unpin(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	app := text(call, "app")
	if known, err := p.known().Find(ctx, app); err == nil {
		app = known.ID
	}
	if err := p.store.Pin(ctx, call, app, text(call, "tool"), true); err != nil {
		return nil, err
	}
	return &aai.Result{Text: fmt.Sprintf("%s of %s is no longer pinned.", text(call, "tool"), app)}, nil
}

// unknownToolError reports that the app has no such tool.
func unknownToolError(app *aai.App, tool string) error {
	names := make([]string, len(app.Tools))
	for i, t := range app.Tools {
		names[i] = t.Name
	}
	e := aai.Errorf(aai.ToolNotFound, "tool: %s has no tool %q", app.ID, aai.CleanLabel(tool, 60))
	e.Candidates = aai.Nearest(tool, names, 5)
	e.Hint = "Without tool the guide names all of them."
	return e
}
