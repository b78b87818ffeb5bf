package risk

import (
	"context"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit/fakeoperator"
)

// screen returns an app with tools that operate the windows of other programs.
func screen() *aai.App {
	return &aai.App{
		ID: "desktop", Name: "Desktop",
		Tools: []*aai.Tool{
			{Name: "look", Effect: aai.Reads, Assess: aai.Always(aai.Assessment{EffectInherent: true}), Target: "app"},
			{Name: "click", Effect: aai.Destroys, Target: "app", Assess: func(c *aai.Call) aai.Assessment {
				return aai.Assessment{KeepsFocus: c != nil && c.Args["mode"] != "focus"}
			}},
			{Name: "scroll", Effect: aai.Changes, Target: "app"},
			{Name: "type", Effect: aai.Destroys, Assess: aai.Always(aai.Assessment{SendsKeys: true}), Target: "app"},
		},
		Operator: fakeoperator.Operator{Find: func(context.Context, *aai.Call, string) (*aai.App, error) { panic("gates do not look for targets") }},
	}
}

func program(name, digest string) *aai.App {
	return &aai.App{ID: "desktop/" + name, Name: name, Digest: digest, PID: 7}
}

// operating returns a request to operate the target, or the whole screen if it is nil.
func operating(target *aai.App, tool string) *aai.Request {
	app := screen()
	if target == nil {
		target = app
	}
	r := asking(app, tool)
	r.Call.Target = target
	return r
}

// asking returns a request by an agent for a tool of the app.
func asking(app *aai.App, tool string) *aai.Request {
	caller := aai.Caller{Door: aai.DoorMCP, Name: "claude-ai", Session: "s1", Identity: "/usr/bin/claude"}
	return &aai.Request{
		Call: &aai.Call{ID: "c1", Caller: caller, App: app.ID, Tool: tool, Args: map[string]any{"text": "milk"}, Target: app},
		App:  app, Tool: app.Tool(tool),
	}
}

// check returns the result of the gate's Check as one word.
func check(g aai.Gate, r *aai.Request) string {
	questions, err := g.Check(context.Background(), r)
	switch {
	case err != nil:
		return string(aai.AsError(err).Code)
	case len(questions) > 0:
		return "asks"
	}
	return "admits"
}
